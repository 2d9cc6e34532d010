import { contactSearch, type PersonReference, type SearchPath } from './contact-keys.ts'
import { askableProfileUrl, canonicalProfileUrl } from '../keys.ts'
import { endOf, foundIn, stop, type Facts, type PlannedRecord, type Stop, type Candidates } from './step.ts'
import type { Recipe } from './recipes.ts'

/** The person as the service knows them. */
export interface Known {
  person: PersonReference
  /** The match of a contact lookup; absent where the record has a profile URL itself. */
  match?: Record<string, unknown>
}

/**
 * Identifies a person by the record's profile URL, else by a contact lookup. Returns the person, or the candidates that
 * would find them, or why the search ends. A broken URL counts as none where the person may be searched for.
 */
export function identify(record: PlannedRecord, recipe: Recipe, facts: Facts): Known | Candidates {
  const { identity } = record
  const url = identity.profileUrl
    ? askableProfileUrl('person', identity.profileUrl, recipe.networkHosts)
    : undefined
  if (url?.ok) return { person: { profile: url.value } }
  const ended = (end: Stop): Candidates => ({ candidates: [], values: {}, end })
  const broken = url && stop('rejected', `broken profile URL: ${url.reason}`)
  if (!recipe.steps.includes('contact.lookup'))
    return ended(broken ?? stop('skipped', 'no profile URL to look up by'))

  const fact = facts['contact.lookup']
  if (!fact) {
    const country = countryOf(record, recipe)
    const asked = contactSearch(identity, {
      ...(country ? { country } : {}),
      similarity: recipe.similarity ?? false,
    })
    if (!asked.ok) return ended(broken ?? stop('skipped', asked.reason))
    const { key, request, path } = asked.search
    return {
      candidates: [
        {
          lookup: { key, operation: 'contact.lookup', request },
          why: `the record has no profile URL, but ${byWhat[path]}`,
        },
      ],
      values: {},
      end: stop('skipped', 'not looked up'),
    }
  }
  const match = foundIn(fact)
  if (!match) return ended(endOf(fact))
  // A value of the wrong one of several people would make the record worse.
  if (Number(match['other_matches'] ?? 0) > 0)
    return ended(stop('unchanged', 'several people match, and none is certain'))
  const person = reference({}, match, recipe)
  return person ? { person, match } : ended(stop('unchanged', 'the match names no profile'))
}

const byWhat: Record<SearchPath, string> = {
  email: 'an e-mail to find the person by',
  phone: 'a phone to find the person by',
  name_domain: 'a name and a domain to find the person by',
  name_company: 'a name and a company to find the person by',
}

function countryOf({ values }: PlannedRecord, recipe: Recipe): string | undefined {
  const own = values?.['country_code']
  return typeof own === 'string' ? own : recipe.country
}

/** The service's ids are short, and an id is part of the ledger's keys. */
const maxIdLength = 200

/** Returns the person as an answer names them, completed by the reference that was asked with. */
export function reference(
  asked: PersonReference,
  answer: Readonly<Record<string, unknown>>,
  { networkHosts }: Pick<Recipe, 'networkHosts'>,
): PersonReference | undefined {
  const url = canonicalProfileUrl('person', String(answer['profnet_url'] ?? ''), networkHosts)
  const named = String(answer['people_search_id'] ?? asked.peopleSearchId ?? '')
  const id = named.length > maxIdLength ? '' : named
  const profile = url.ok ? url.value : asked.profile
  if (profile === undefined && id === '') return undefined
  return { ...(profile === undefined ? {} : { profile }), ...(id === '' ? {} : { peopleSearchId: id }) }
}
