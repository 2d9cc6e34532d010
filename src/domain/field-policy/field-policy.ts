import type { FieldChange, FieldValue, Patch } from '../record.ts'
import { sameValue } from './same-value.ts'

/** Decides when a field may be written over the record's value at the moment of writing. */
export const fieldRules = ['fill_blank', 'overwrite_ours', 'overwrite', 'never'] as const
export type FieldRule = (typeof fieldRules)[number]

/**
 * The reason why a proposed change is left out: the field has a value (`filled`), a person changed or cleared the value that we wrote
 * (`edited`), the rule forbids writing (`never`), or writing would only change the value's form (`same`).
 */
export type KeptReason = 'filled' | 'edited' | 'never' | 'same'

export interface PolicyInput {
  /** The record's current values by canonical field, without blank ones. */
  current: Readonly<Record<string, FieldValue>>
  /** The changes that the facts propose. */
  proposed: Patch
  /** The value that we last wrote to a field, as the record showed it afterwards. Absent where we wrote none. */
  ours: Readonly<Record<string, FieldValue | undefined>>
  rule: (field: string) => FieldRule
  /** The country of phones without a prefix. Default: the record's `country_code`. */
  country?: string
}

export interface PolicyDecision {
  patch: Patch
  kept: { field: string; why: KeptReason }[]
}

/**
 * Returns the changes of a patch that the rules allow over the record's current values. `fill_blank` fills blanks.
 * `overwrite_ours` also replaces a value that we wrote and that was not changed since. `overwrite` replaces any value except
 * a person's edit of a value that we wrote, which locks the field under every rule. `never` writes nothing. Nothing found
 * never writes. Idempotent: applied to its own result it gives that result, and after the write it allows nothing more.
 */
export function applyPolicy(input: PolicyInput): PolicyDecision {
  const decision: PolicyDecision = { patch: {}, kept: [] }
  const country = input.country ?? text(valueOf(input.current, 'country_code'))
  for (const field of Object.keys(input.proposed)) {
    const change = input.proposed[field] as FieldChange
    const why = keeps(field, change, input, country)
    if (why === undefined) decision.patch[field] = change
    else decision.kept.push({ field, why })
  }
  return decision
}

/** Applies `fill_blank` to all fields, for sources whose earlier writes are not known. */
export function fillBlank(current: Record<string, FieldValue>, proposed: Patch): Patch {
  return applyPolicy({ current, proposed, ours: {}, rule: () => 'fill_blank' }).patch
}

function keeps(
  field: string,
  change: FieldChange,
  { current, ours, rule }: PolicyInput,
  country: string | undefined,
): KeptReason | undefined {
  const allowed = rule(field)
  if (allowed === 'never') return 'never'
  const now = valueOf(current, field)
  const wanted = 'set' in change ? change.set : undefined
  if (wanted !== undefined && isBlank(wanted)) return 'same'
  if (now === undefined && wanted === undefined) return 'same'
  if (now !== undefined && wanted !== undefined && sameValue(field, now, wanted, country)) return 'same'
  return lockOf(field, { current, ours, rule: allowed, country })
}

/**
 * Returns why no other value may be written to a field, or undefined where one may. What may be bought for a record and what
 * may be written to it are decided here, by the same rule.
 */
export function lockOf(
  field: string,
  by: Pick<PolicyInput, 'current' | 'ours'> & { rule: FieldRule; country?: string | undefined },
): Exclude<KeptReason, 'same'> | undefined {
  const { current, ours, rule, country = text(valueOf(current, 'country_code')) } = by
  if (rule === 'never') return 'never'
  const now = valueOf(current, field)
  const wrote = valueOf(ours, field)
  // A value that we wrote and a person cleared is an edit too: the next night does not fill it again.
  if (wrote !== undefined && (now === undefined || !sameValue(field, now, wrote, country))) return 'edited'
  if (now === undefined || rule === 'overwrite') return undefined
  return rule === 'overwrite_ours' && wrote !== undefined ? undefined : 'filled'
}

function valueOf(
  values: Readonly<Record<string, FieldValue | undefined>>,
  field: string,
): FieldValue | undefined {
  const value = Object.hasOwn(values, field) ? values[field] : undefined
  return value === undefined || isBlank(value) ? undefined : value
}

function isBlank(value: FieldValue): boolean {
  return typeof value === 'string' && value.trim() === ''
}

function text(value: FieldValue | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
