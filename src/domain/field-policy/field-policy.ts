import type { FieldChange, FieldValue, Patch } from '../record.ts'
import { sameValue } from './same-value.ts'

/** When a field may be written over what stands in the record at the moment of writing. */
export const fieldRules = ['fill_blank', 'overwrite_ours', 'overwrite', 'never'] as const
export type FieldRule = (typeof fieldRules)[number]

/**
 * Why a proposed change was left out: something stands there (`filled`), a person changed or cleared what we wrote
 * (`edited`), the field is closed to us (`never`), or writing would change nothing but the form (`same`).
 */
export type KeptReason = 'filled' | 'edited' | 'never' | 'same'

export interface PolicyInput {
  /** What stands in the record now, by canonical field; blanks are absent. */
  current: Readonly<Record<string, FieldValue>>
  /** What the facts say. */
  proposed: Patch
  /** The value that we last wrote to a field, as the record showed it afterwards; absent where we wrote none. */
  ours: Readonly<Record<string, FieldValue | undefined>>
  rule: (field: string) => FieldRule
  /** Where phones without a prefix belong. Default: the record's `country_code`. */
  country?: string
}

export interface PolicyDecision {
  patch: Patch
  kept: { field: string; why: KeptReason }[]
}

/**
 * Keeps of a patch only what the rules allow over the values that stand in the record now. `fill_blank` fills blanks;
 * `overwrite_ours` also replaces what we wrote and nobody has changed since; `overwrite` replaces anything but a person's
 * edit of what we wrote, for that locks the field under every rule; `never` is never. Nothing found never writes.
 * Deciding on its own result gives that result, and once it is written there is nothing left to write.
 */
export function applyPolicy(input: PolicyInput): PolicyDecision {
  const decision: PolicyDecision = { patch: {}, kept: [] }
  const country = input.country ?? text(valueOf(input.current, 'country_code'))
  for (const [field, change] of Object.entries(input.proposed)) {
    const why = keeps(field, change, input, country)
    if (why === undefined) decision.patch[field] = change
    else decision.kept.push({ field, why })
  }
  return decision
}

/** `fill_blank` for all fields, where nothing is known of what we wrote before. */
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
  const wrote = valueOf(ours, field)
  const wanted = 'set' in change ? change.set : undefined
  if (wanted !== undefined && isBlank(wanted)) return 'same'
  if (now === undefined && wanted === undefined) return 'same'
  if (now !== undefined && wanted !== undefined && sameValue(field, now, wanted, country)) return 'same'
  // What we wrote and a person cleared is an edit too: it is not filled again the next night.
  if (wrote !== undefined && (now === undefined || !sameValue(field, now, wrote, country))) return 'edited'
  if (now === undefined || allowed === 'overwrite') return undefined
  return allowed === 'overwrite_ours' && wrote !== undefined ? undefined : 'filled'
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
