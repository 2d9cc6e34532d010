import type { PersonReference } from './contact-keys.ts'
import { chooseContacts, readMatchContacts } from './contact-values.ts'
import {
  employerFieldNames,
  employerValues,
  isAnswered,
  matchValues,
  profileFieldNames,
  profileValues,
} from '../fields.ts'
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
 * A person: found by e-mail, phone or name where the record has no profile URL; then the profile, where the match does not
 * tell what is wanted; then the employer; then e-mails and phones, a type at a time, only those that the record lacks.
 */
export function personCandidates(record: PlannedRecord, recipe: Recipe, facts: Facts): Candidates {
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
    ...(redeemable ? redemptionCandidates(redeemable, record, contacts, recipe, facts) : []),
  ]
  if (wishes.length === 0 && employer) wishes.push(...logoWish(employer, recipe, facts))
  return { wishes, values, end: endWith(facts), ...problemOf(facts) }
}

function profileWish(
  { profile }: PersonReference,
  match: Record<string, unknown> | undefined,
  recipe: Recipe,
  facts: Facts,
): Candidate[] {
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

function employerWish(told: Record<string, FieldValue>, recipe: Recipe, facts: Facts): Candidate[] {
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

function logoWish(employer: Record<string, unknown>, recipe: Recipe, facts: Facts): Candidate[] {
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
  return profile ? endOf(profile) : stop('unchanged', 'nothing that the recipe wants and may buy is missing')
}

function problemOf(facts: Facts): { problem?: string } {
  const bad = [facts['person.profile'], facts['company.profile'], ...redemptions(facts)].find(
    (fact) => fact?.outcome === 'failed' || fact?.outcome === 'unreadable',
  )
  return bad ? { problem: endOf(bad).reason } : {}
}
