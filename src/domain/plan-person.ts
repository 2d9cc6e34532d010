import { contactSearch, redemption, type PersonReference, type SearchPath } from './contact-keys.ts'
import { contactFields, contactTypes, type ContactType } from './contact-types.ts'
import { chooseContacts, readMatchContacts, readRedemption, type ContactValue } from './contact-values.ts'
import {
  employerFieldNames,
  employerValues,
  isAnswered,
  matchValues,
  profileFieldNames,
  profileValues,
} from './fields.ts'
import { canonicalDomain, canonicalProfileUrl, lookupKey, profileUrlOf } from './keys.ts'
import { canonicalEmail, companyDomainOf } from './normalise-email.ts'
import {
  endOf,
  foundIn,
  stop,
  type Facts,
  type PlannedRecord,
  type Stop,
  type Way,
  type Wish,
} from './plan-step.ts'
import type { Recipe } from './recipes.ts'
import type { FieldValue } from './record.ts'

/**
 * A person: found by e-mail, phone or name where the record has no profile URL; then the profile, where the match does not
 * tell what is wanted; then the employer; then e-mails and phones, a type at a time, only those that the record lacks.
 */
export function personWay(record: PlannedRecord, recipe: Recipe, facts: Facts): Way {
  const known = identify(record, recipe, facts)
  if ('wishes' in known) return known
  const { person, match } = known
  const profile = facts['person.profile']
  // A profile URL that leads nowhere leads to no contact data either.
  if (profile?.outcome === 'not_found' && !match) return { wishes: [], values: {}, end: endOf(profile) }

  const told = { ...matchValues(match ?? {}), ...profileValues('person', foundIn(profile) ?? {}) }
  const employer = foundIn(facts['company.profile'])
  const contacts = [...readMatchContacts(match ?? {}), ...revealed(facts)]
  const values: Record<string, FieldValue> = {
    ...told,
    ...employerValues(employer ?? {}),
    ...chooseContacts(contacts),
  }
  const logo = foundIn(facts['company.logo'])?.['url']
  if (typeof logo === 'string') values['company_logo'] = logo

  const redeemable = reference(person, told)
  const wishes = [
    ...profileWish(person, match, recipe, facts),
    ...employerWish(told, recipe, facts),
    ...(redeemable ? redemptionWishes(redeemable, record, contacts, recipe, facts) : []),
  ]
  if (wishes.length === 0 && employer) wishes.push(...logoWish(employer, recipe, facts))
  return { wishes, values, end: endWith(facts), ...problemOf(facts) }
}

interface Known {
  person: PersonReference
  /** The match of a contact lookup; absent where the record has a profile URL itself. */
  match?: Record<string, unknown>
}

function identify(record: PlannedRecord, recipe: Recipe, facts: Facts): Known | Way {
  const { identity } = record
  const url = identity.profileUrl ? canonicalProfileUrl('person', identity.profileUrl) : undefined
  if (url?.ok) return { person: { profile: url.value } }
  const ended = (end: Stop): Way => ({ wishes: [], values: {}, end })
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
      wishes: [
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
  // Whoever of several people it is, what is written of the wrong one makes the record worse.
  if (Number(match['other_matches'] ?? 0) > 0)
    return ended(stop('unchanged', 'several people match, and none is certain'))
  const person = reference({}, match)
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

/** The person as an answer names them, which is more than what was asked by. */
function reference(
  asked: PersonReference,
  answer: Readonly<Record<string, unknown>>,
): PersonReference | undefined {
  const url = canonicalProfileUrl('person', String(answer['profnet_url'] ?? ''))
  const id = String(answer['people_search_id'] ?? asked.peopleSearchId ?? '')
  const profile = url.ok ? url.value : asked.profile
  if (profile === undefined && id === '') return undefined
  return { ...(profile === undefined ? {} : { profile }), ...(id === '' ? {} : { peopleSearchId: id }) }
}

function profileWish(
  { profile }: PersonReference,
  match: Record<string, unknown> | undefined,
  recipe: Recipe,
  facts: Facts,
): Wish[] {
  if (facts['person.profile'] || profile === undefined || !recipe.steps.includes('person.profile')) return []
  const wanted = recipe.fields.filter((field) => profileFieldNames('person').includes(field))
  const needed = employerIsWanted(recipe) ? [...wanted, 'company_profnet_url'] : wanted
  const open = needed.filter((field) => !match || !isAnswered('match', field, match))
  if (open.length === 0) return []
  return [
    {
      lookup: {
        key: lookupKey('person.profile', profile),
        operation: 'person.profile',
        request: { profnet_url: profileUrlOf(profile) },
      },
      why: match
        ? `the match does not say ${[...new Set(open)].join(', ')}`
        : 'the record has a profile URL, and the profile tells the fields wanted',
    },
  ]
}

function employerIsWanted({ fields, steps }: Recipe): boolean {
  return steps.includes('company.profile') && fields.some((field) => employerFieldNames.includes(field))
}

function employerWish(told: Record<string, FieldValue>, recipe: Recipe, facts: Facts): Wish[] {
  if (facts['company.profile'] || !employerIsWanted(recipe)) return []
  const url = canonicalProfileUrl('company', String(told['company_profnet_url'] ?? ''))
  if (!url.ok) return []
  return [
    {
      lookup: {
        key: lookupKey('company.profile', url.value),
        operation: 'company.profile',
        request: { profnet_url: profileUrlOf(url.value) },
      },
      why: 'fields of the employer are wanted, and the person’s profile names the employer’s',
    },
  ]
}

function redemptionWishes(
  person: PersonReference,
  record: PlannedRecord,
  contacts: readonly ContactValue[],
  recipe: Recipe,
  facts: Facts,
): Wish[] {
  if (!recipe.steps.includes('contact.redeem')) return []
  return contactTypes
    .filter((type) => !facts[`contact.redeem:${type}`] && !contacts.some((contact) => contact.type === type))
    .flatMap((type) => {
      const missing = contactFields[type].filter(
        (field) => recipe.fields.includes(field) && !stands(field, record),
      )
      if (missing.length === 0) return []
      const lookup = { operation: 'contact.redeem' as const, ...redemption(person, type) }
      return [
        {
          lookup,
          why: `${missing.join(', ')} ${missing.length > 1 ? 'are' : 'is'} wanted, and the record has none`,
        },
      ]
    })
}

/** Whether the record has a value in the field, as far as is known before it is read again for writing. */
function stands(field: string, { identity, values }: PlannedRecord): boolean {
  if (values?.[field] !== undefined) return true
  const isPersonal =
    identity.email !== undefined && canonicalEmail(identity.email).ok && !companyDomainOf(identity.email)
  switch (field) {
    case 'email':
      return identity.email !== undefined
    case 'email_personal':
      return isPersonal
    // Which of the two an identifying phone is, only the record's own values say.
    case 'mobile_phone':
      return values === undefined && identity.phone !== undefined
    default:
      return identity.phone !== undefined
  }
}

function revealed(facts: Facts): ContactValue[] {
  return contactTypes.flatMap((type) => {
    const fact = facts[`contact.redeem:${type}`]
    return fact ? readRedemption(type, fact).values : []
  })
}

function logoWish(employer: Record<string, unknown>, recipe: Recipe, facts: Facts): Wish[] {
  if (
    !recipe.fields.includes('company_logo') ||
    !recipe.steps.includes('company.logo') ||
    facts['company.logo']
  )
    return []
  const domain = canonicalDomain(String(employer['domain'] ?? ''))
  if (!domain.ok) return []
  return [
    {
      lookup: {
        key: lookupKey('company.logo', domain.value),
        operation: 'company.logo',
        request: { domain: domain.value },
      },
      why: 'the employer’s domain is known, and the logo costs nothing',
    },
  ]
}

const redemptions = (facts: Facts) =>
  contactTypes.flatMap((type: ContactType) => facts[`contact.redeem:${type}`] ?? [])

function endWith(facts: Facts): Stop {
  const profile = facts['person.profile']
  const failed = [profile, ...redemptions(facts)].find(
    (fact) => fact?.outcome === 'failed' || fact?.outcome === 'unreadable',
  )
  if (failed) return endOf(failed)
  if (redemptions(facts).length > 0) return stop('unchanged', 'no e-mail or phone found')
  return profile ? endOf(profile) : stop('unchanged', 'nothing that the recipe wants and may buy is missing')
}

function problemOf(facts: Facts): { problem?: string } {
  const bad = [facts['person.profile'], facts['company.profile'], ...redemptions(facts)].find(
    (fact) => fact?.outcome === 'failed' || fact?.outcome === 'unreadable',
  )
  return bad ? { problem: endOf(bad).reason } : {}
}
