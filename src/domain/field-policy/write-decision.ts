import type { FieldChange, FieldValue, Patch } from '../record.ts'
import { clearedValue, type BlockedValue } from './blocked-values.ts'
import { strayAddressParts } from './address-parts.ts'
import { absentReason, absentStatus, type CurrentRecord, type PresentRecord } from './current-record.ts'
import { applyPolicy, type FieldRule, type KeptReason } from './field-policy.ts'
import { sameValue } from './same-value.ts'

/** A field that a task was about to write when its process died. The record may or may not have the new value. */
export interface OpenIntent {
  taskId: bigint
  field: string
  old: FieldValue | null
  new: FieldValue | null
}

interface Fields {
  /** The task's fields that an earlier attempt has written. */
  done: Patch
  /** Fields whose value was not blank before. */
  replaces: ReadonlySet<string>
  /** Fields that a person changed between two attempts. */
  unknown: string[]
}

export type WriteDecision =
  | { kind: 'end'; status: 'unchanged' | 'skipped' | 'rejected'; reason: string; unknown: string[] }
  | ({ kind: 'written'; patch: Patch } & Fields)
  | ({ kind: 'write'; patch: Patch; current: PresentRecord } & Fields)

export interface DecideBy {
  /** By field: the value that we wrote last and did not undo. */
  ours: Readonly<Record<string, FieldValue>>
  /** The fields that an interrupted attempt was about to write. */
  open: readonly OpenIntent[]
  rule: (field: string) => FieldRule
  /** The task's values as the record will show them. Default: unchanged. */
  standing?: Readonly<Record<string, FieldValue>> | undefined
  /** The values that must not be written again, by field. Default: none. */
  blocked?: ReadonlyMap<string, BlockedValue> | undefined
  /** The record names someone else than the answers are about (`namesAnotherSubject`). Default: it does not. */
  isAnother?: boolean | undefined
}

/**
 * Decides which fields of a ready task to write over the record's current values. Pure. The intents of an interrupted
 * attempt come first: a field that has the new value is done, a field that has the old value is decided like any other,
 * and a field that has a third value was edited by a person and is kept. Nothing more is written into a record that names
 * another subject by now.
 */
export function decideWrite(
  task: { patch: Patch },
  record: CurrentRecord | undefined,
  by: DecideBy,
): WriteDecision {
  if (record?.state === 'present') return decidePresent(task.patch, record, by)
  const unknown = by.open.map(({ field }) => field)
  return { kind: 'end', status: absentStatus(record), reason: absentReason(record), unknown }
}

function decidePresent(
  wanted: Patch,
  record: PresentRecord,
  { ours, open, rule, standing = {}, blocked = new Map(), isAnother = false }: DecideBy,
): WriteDecision {
  const current = record.values
  const country = typeof current['country_code'] === 'string' ? current['country_code'] : undefined
  const same = (field: string, value: FieldValue | null) => {
    const now = current[field]
    const isNone = value === null || value === clearedValue
    if (now === undefined || isNone) return now === undefined && isNone
    return sameValue(field, now, value, country)
  }
  const done: Patch = {}
  const replaces = new Set<string>()
  const unknown: string[] = []
  for (const { field, old, new: wrote } of open) {
    const change = wanted[field]
    if (change && wrote !== null && same(field, wrote)) {
      done[field] = change
      if (old !== null) replaces.add(field)
    } else if (!same(field, old)) unknown.push(field)
  }
  if (isAnother) {
    // An interrupted attempt's values are in the record, so the ledger says so.
    if (Object.keys(done).length > 0) return { kind: 'written', patch: {}, done, replaces, unknown }
    return { kind: 'end', status: 'skipped', reason: anotherSubject, unknown }
  }
  // Hardly ever was an attempt interrupted.
  const proposed =
    open.length === 0
      ? wanted
      : Object.fromEntries(
          Object.entries(wanted).filter(([field]) => !(field in done) && !unknown.includes(field)),
        )
  const allowed = applyPolicy({ current, proposed, ours, rule })
  const patch: Patch = {}
  const kept: Kept[] = [...allowed.kept]
  for (const field of Object.keys(allowed.patch)) {
    const change = allowed.patch[field] as FieldChange
    const block = blocked.get(field)
    // The record shows the value already, in its own words: a picklist's option for the service's term.
    if (Object.hasOwn(standing, field) && same(field, standing[field] ?? null))
      kept.push({ field, why: 'same' })
    else if (block) kept.push({ field, why: block.why, code: block.code })
    else patch[field] = change
  }
  for (const field of strayAddressParts(current, wanted, { ...done, ...patch })) {
    if (!(field in patch)) continue
    delete patch[field]
    kept.push({ field, why: 'other_address' })
  }
  for (const field of Object.keys(patch)) if (field in current) replaces.add(field)
  if (Object.keys(patch).length > 0) return { kind: 'write', patch, done, replaces, unknown, current: record }
  if (Object.keys(done).length > 0) return { kind: 'written', patch: {}, done, replaces, unknown }
  const reason = keptReason([...kept, ...unknown.map((field): Kept => ({ field, why: 'edited' }))])
  return { kind: 'end', status: 'unchanged', reason, unknown }
}

/** The record has changed since, so the next scan reads it and plans it anew. */
const anotherSubject = 'the record names another subject now'

interface Kept {
  field: string
  why: KeptReason | BlockedValue['why'] | 'other_address'
  code?: string | null
}

const phrases: readonly (readonly [Kept['why'], string])[] = [
  ['edited', 'edited by a person'],
  ['undone', 'undone before'],
  ['rejected', 'refused by the CRM before'],
  ['never', 'never written by policy'],
  ['other_address', 'the record has another address'],
  ['filled', 'filled already'],
  ['same', 'the same already'],
]

/** Returns why nothing was written. Fields with one reason are listed together. */
function keptReason(kept: readonly Kept[]): string {
  if (kept.length === 0) return 'the record has no field for what was found'
  if (kept.every(({ why }) => why === 'filled' || why === 'same'))
    return 'every field found is filled already'
  return phrases
    .map(([why, words]) => {
      const fields = kept
        .filter((each) => each.why === why)
        .map(({ field, code }) => (code ? `${field} (${code})` : field))
      return fields.length > 0 ? `${words}: ${fields.join(', ')}` : ''
    })
    .filter((part) => part !== '')
    .join('; ')
}
