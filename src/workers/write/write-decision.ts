import type { CurrentRecord } from '../../connectors/connector.ts'
import { applyPolicy, type FieldRule, type KeptReason } from '../../domain/field-policy/field-policy.ts'
import type { FieldValue, Patch } from '../../domain/record.ts'
import { sameValue } from '../../domain/field-policy/same-value.ts'
import type { OpenIntent, BlockedValue } from '../../store/writes/write-intents.ts'
import type { ReadyTask } from '../../store/runs/ready-tasks.ts'

type Present = Extract<CurrentRecord, { state: 'present' }>

interface Fields {
  /** Of the task's fields, those that an attempt before this one has written. */
  done: Patch
  /** Fields whose value was not blank before. */
  replaces: ReadonlySet<string>
  /** Fields that somebody changed between two attempts. */
  unknown: string[]
}

export type WriteDecision =
  | { kind: 'end'; status: 'unchanged' | 'skipped'; reason: string; unknown: string[] }
  | ({ kind: 'written'; patch: Patch } & Fields)
  | ({ kind: 'write'; patch: Patch; current: Present } & Fields)

export interface DecideBy {
  /** By field: what we wrote last and did not undo. */
  ours: Readonly<Record<string, FieldValue>>
  /** What an attempt that died meant to write. */
  open: readonly OpenIntent[]
  rule: (field: string) => FieldRule
  /** How the task's values read once they stand in the record. Default: as they are. */
  standing?: Readonly<Record<string, FieldValue>>
  /** What must not be written again, by field. Default: nothing. */
  setAside?: ReadonlyMap<string, BlockedValue>
}

/**
 * What of a ready task is to be written over what stands in its record now. Pure. What an attempt that died had meant to
 * write is looked at first: where it stands it is done, where the old value stands it is judged like any other field, and
 * where a third value stands somebody was quicker, and it stays.
 */
export function decideWrite(task: ReadyTask, record: CurrentRecord | undefined, by: DecideBy): WriteDecision {
  const unknown = by.open.map(({ field }) => field)
  switch (record?.state) {
    case 'present':
      return judgePresent(task, record, by)
    case 'merged':
      return { kind: 'end', status: 'skipped', reason: `the record was merged into ${record.into}`, unknown }
    case 'converted':
      return { kind: 'end', status: 'skipped', reason: 'the lead was converted', unknown }
    default:
      return { kind: 'end', status: 'skipped', reason: 'the record is gone', unknown }
  }
}

function judgePresent(
  task: ReadyTask,
  record: Present,
  { ours, open, rule, standing = {}, setAside = new Map() }: DecideBy,
): WriteDecision {
  const current = record.values
  const country = typeof current['country_code'] === 'string' ? current['country_code'] : undefined
  const same = (field: string, value: FieldValue | null) => {
    const now = current[field]
    if (now === undefined || value === null) return now === undefined && value === null
    return sameValue(field, now, value, country)
  }
  const done: Patch = {}
  const replaces = new Set<string>()
  const unknown: string[] = []
  for (const { field, old, new: wrote } of open) {
    const change = task.patch[field]
    if (change && wrote !== null && same(field, wrote)) {
      done[field] = change
      if (old !== null) replaces.add(field)
    } else if (!same(field, old)) unknown.push(field)
  }
  const proposed = Object.fromEntries(
    Object.entries(task.patch).filter(([field]) => !(field in done) && !unknown.includes(field)),
  )
  const allowed = applyPolicy({ current, proposed, ours, rule })
  const patch: Patch = {}
  const kept: Kept[] = [...allowed.kept]
  for (const [field, change] of Object.entries(allowed.patch)) {
    const aside = setAside.get(field)
    // What the record would show is there already: a picklist's word for the service's.
    if (Object.hasOwn(standing, field) && same(field, standing[field] ?? null))
      kept.push({ field, why: 'same' })
    else if (aside) kept.push({ field, why: aside.why, ...(aside.code === null ? {} : { code: aside.code }) })
    else patch[field] = change
  }
  for (const field of Object.keys(patch)) if (field in current) replaces.add(field)
  if (Object.keys(patch).length > 0) return { kind: 'write', patch, done, replaces, unknown, current: record }
  if (Object.keys(done).length > 0) return { kind: 'written', patch: {}, done, replaces, unknown }
  const reason = keptReason([...kept, ...unknown.map((field): Kept => ({ field, why: 'edited' }))])
  return { kind: 'end', status: 'unchanged', reason, unknown }
}

interface Kept {
  field: string
  why: KeptReason | BlockedValue['why']
  code?: string
}

const said: readonly (readonly [Kept['why'], string])[] = [
  ['edited', 'edited by a person'],
  ['undone', 'put back by an undo before'],
  ['rejected', 'refused by the CRM before'],
  ['never', 'never written by policy'],
  ['filled', 'filled already'],
  ['same', 'the same already'],
]

/** Why nothing was written, the fields of one reason together. */
function keptReason(kept: readonly Kept[]): string {
  if (kept.length === 0) return 'no field of the record takes what was found'
  if (kept.every(({ why }) => why === 'filled' || why === 'same'))
    return 'every field found is filled already'
  return said
    .map(([why, words]) => {
      const fields = kept
        .filter((each) => each.why === why)
        .map(({ field, code }) => (code === undefined ? field : `${field} (${code})`))
      return fields.length > 0 ? `${words}: ${fields.join(', ')}` : ''
    })
    .filter((part) => part !== '')
    .join('; ')
}
