import { fieldNames, profileValues } from './fields.ts'
import { canonicalDomain, canonicalProfileUrl, lookupKey, profileUrlOf, type LookupKey } from './keys.ts'
import type { Fact, FieldValue, Identity } from './record.ts'
import type { ObjectKind, Operation } from './words.ts'

/** A unit of work to buy (or to fetch for nothing). `request` is the body that the endpoint will send. */
export interface LookupWanted {
  key: LookupKey
  operation: Operation
  request: Record<string, string>
}

export type Step =
  | { kind: 'lookup'; lookup: LookupWanted }
  | { kind: 'write'; values: Record<string, FieldValue> }
  | { kind: 'stop'; status: 'unchanged' | 'skipped' | 'rejected'; reason: string }

/** Which steps may be taken, in the order of their price. */
export interface Recipe {
  name: string
  steps: readonly Operation[]
}

export const recipes: Record<ObjectKind, Recipe> = {
  company: { name: 'profile', steps: ['company.profile', 'company.logo'] },
  person: { name: 'profile', steps: ['person.profile'] },
}

export type Facts = Partial<Record<Operation, Fact>>

/**
 * What to do next for a record, asked again after each lookup until it answers `write` or `stop`. Pure: the same
 * record, recipe and facts give the same step, so a crash between two steps costs nothing.
 */
export function nextStep(object: ObjectKind, identity: Identity, recipe: Recipe, facts: Facts): Step {
  const profile = `${object}.profile` as const
  const known = facts[profile]
  if (!known) return profileStep(object, identity, profile)
  if (known.outcome === 'not_found') return stop('unchanged', 'not found by the service')
  if (known.outcome === 'unreadable')
    return stop('rejected', 'the answer could not be read; it is kept in the ledger')
  if (known.outcome !== 'found' || !known.data) return stop('rejected', known.reason ?? 'the lookup failed')

  const values = profileValues(object, known.data)
  const logo = logoStep(recipe, values, facts)
  if (logo) return logo
  const found = facts['company.logo']
  if (found?.outcome === 'found' && typeof found.data?.['url'] === 'string')
    values['logo'] = found.data['url']

  const named = fieldNames(object).filter((name) => name in values)
  if (named.length === 0) return stop('unchanged', 'the answer holds no values')
  return {
    kind: 'write',
    values: Object.fromEntries(named.map((name) => [name, values[name] as FieldValue])),
  }
}

function profileStep(object: ObjectKind, identity: Identity, operation: Operation): Step {
  if (!identity.profileUrl) return stop('skipped', 'no profile URL to look up by')
  const canonical = canonicalProfileUrl(object, identity.profileUrl)
  if (!canonical.ok) return stop('rejected', `broken profile URL: ${canonical.reason}`)
  return {
    kind: 'lookup',
    lookup: {
      key: lookupKey(operation, canonical.value),
      operation,
      request: { profnet_url: profileUrlOf(canonical.value) },
    },
  }
}

function logoStep(recipe: Recipe, values: Record<string, FieldValue>, facts: Facts): Step | undefined {
  if (!recipe.steps.includes('company.logo') || facts['company.logo']) return undefined
  const domain = canonicalDomain(String(values['domain'] ?? ''))
  if (!domain.ok) return undefined
  const key = lookupKey('company.logo', domain.value)
  return { kind: 'lookup', lookup: { key, operation: 'company.logo', request: { domain: domain.value } } }
}

function stop(status: 'unchanged' | 'skipped' | 'rejected', reason: string): Step {
  return { kind: 'stop', status, reason }
}
