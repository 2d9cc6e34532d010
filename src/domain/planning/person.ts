import type { PersonReference } from './contact-keys.ts'
import { chooseContacts, contactFaults, readMatchContacts } from './contact-values.ts'
import { employerFieldNames, isAnswered, isProfileField, readAnswer } from '../fields.ts'
import { canonicalDomain, canonicalProfileUrl, lookupKey, profileUrlOf } from '../keys.ts'
import { redemptions, redemptionCandidates, revealed } from './contacts.ts'
import { identify, reference } from './identify.ts'
import {
  endOf,
  foundIn,
  stop,
  type Facts,
  type PlannedRecord,
  type Stop,
  type Candidates,
  type Candidate,
} from './step.ts'
import type { Recipe } from './recipes.ts'
import type { FieldValue } from '../record.ts'

/**
 * Plans a person. A record without a profile URL is found by e-mail, phone or name. Then come the profile, for wanted fields
 * that the match did not answer, the employer, and e-mails and phones, one type at a time and only those that the record
 * lacks.
 */
export function personCandidates(record: PlannedRecord, recipe: Recipe, facts: Facts): Candidates {
  const known = identify(record, recipe, facts)
  if ('candidates' in known) return known
  const { person, match } = known
  const profile = facts['person.profile']
  // A profile URL that leads nowhere leads to no contact data either.
  if (profile?.outcome === 'not_found' && !match) return { candidates: [], values: {}, end: endOf(profile) }

  const employer = foundIn(facts['company.profile'])
  const [matched, read, employing] = [
    readAnswer('match', match ?? {}),
    readAnswer('person', foundIn(profile) ?? {}),
    readAnswer('employer', employer ?? {}),
  ]
  const answered = { ...matched.values, ...read.values }
  const contacts = [...readMatchContacts(match ?? {}), ...revealed(facts)]
  const values: Record<string, FieldValue> = {
    ...answered,
    ...employing.values,
    ...chooseContacts(contacts, { usesMobile: recipe.fields.includes('mobile_phone') }),
  }
  const logo = foundIn(facts['company.logo'])?.['url']
  if (typeof logo === 'string') values['company_logo'] = logo

  const redeemable = reference(person, answered, recipe)
  const candidates = [
    ...profileCandidates(person, match, recipe, facts),
    ...employerCandidates(answered, recipe, facts),
    ...(redeemable ? redemptionCandidates(redeemable, contacts, recipe, facts) : []),
  ]
  if (candidates.length === 0 && employer) candidates.push(...logoCandidates(employer, recipe, facts))
  const leftOut = {
    ...matched.leftOut,
    ...read.leftOut,
    ...employing.leftOut,
    ...Object.assign(contactFaults(match), ...redemptions(facts).map(({ data }) => contactFaults(data))),
  }
  return { candidates, values, end: endWith(facts), leftOut, ...problemOf(facts) }
}

function profileCandidates(
  { profile }: PersonReference,
  match: Record<string, unknown> | undefined,
  recipe: Recipe,
  facts: Facts,
): Candidate[] {
  if (facts['person.profile'] || profile === undefined || !recipe.steps.includes('person.profile')) return []
  const wanted = recipe.fields.filter((field) => isProfileField('person', field))
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
        ? `the match does not have ${[...new Set(open)].join(', ')}`
        : 'the record has a profile URL, and the profile has the fields wanted',
    },
  ]
}

function employerIsWanted({ fields, steps }: Recipe): boolean {
  return steps.includes('company.profile') && fields.some((field) => employerFieldNames.includes(field))
}

function employerCandidates(answered: Record<string, FieldValue>, recipe: Recipe, facts: Facts): Candidate[] {
  if (facts['company.profile'] || !employerIsWanted(recipe)) return []
  const url = canonicalProfileUrl(
    'company',
    String(answered['company_profnet_url'] ?? ''),
    recipe.networkHosts,
  )
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

function logoCandidates(employer: Record<string, unknown>, recipe: Recipe, facts: Facts): Candidate[] {
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

function endWith(facts: Facts): Stop {
  const profile = facts['person.profile']
  const failed = [profile, ...redemptions(facts)].find(
    (fact) => fact?.outcome === 'failed' || fact?.outcome === 'unreadable',
  )
  if (failed) return endOf(failed)
  if (redemptions(facts).length > 0) return stop('unchanged', 'no e-mail or phone found')
  return profile
    ? endOf(profile)
    : stop('unchanged', 'the record lacks nothing that the recipe wants and may buy')
}

function problemOf(facts: Facts): { problem?: string } {
  const bad = [facts['person.profile'], facts['company.profile'], ...redemptions(facts)].find(
    (fact) => fact?.outcome === 'failed' || fact?.outcome === 'unreadable',
  )
  return bad ? { problem: endOf(bad).reason } : {}
}
