import { setTimeout as delay } from 'node:timers/promises'
import type { Connector, CurrentRecord, OwnValues, RecordPatch } from '../../connectors/connector.ts'
import { keepsValues } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { FieldChange, FieldValue, Patch } from '../../domain/record.ts'
import { isForgottenRecord } from '../../domain/subjects/forgotten.ts'
import { clearedValue } from '../../domain/field-policy/blocked-values.ts'
import { sameValue } from '../../domain/field-policy/same-value.ts'
import type { FieldWrite } from '../../store/writes/written-fields.ts'
import { writesToUndo } from './writes-to-undo.ts'
import { followMerges, withoutDisputes, type Decided } from './undo-merged.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'
import type { UndoneNotes } from '../notes/undo-notes.ts'

export interface UndoOptions {
  /** Only this field. */
  field?: string | undefined
  /** Reports what would be restored, and writes nothing. */
  plan: boolean
  signal: AbortSignal
}

type UndoOutcome = 'restored' | 'would_restore' | 'already' | 'left'

/** One field of one record. Only a plan has values; `paydirt history` shows those of an undo. */
export interface UndoRow extends Partial<UndoValues> {
  record: string
  field: string
  outcome: UndoOutcome
  /** The record that it was merged into, where the field was put back. */
  mergedInto?: string
  /** The reason why the field was not restored. */
  reason?: string
}

interface UndoValues {
  /** The value that an undo puts back, as the CRM had it; null: the field was blank, and is cleared. */
  old: FieldValue | null
  /** The value that the run wrote, "" where it cleared the field; null: the subject was forgotten. */
  new: FieldValue | null
  /** The value in the record now; null: blank, or the record is gone. */
  now: FieldValue | null
}

export interface Undone {
  runId: string
  connector: string
  entity: string
  plan: boolean
  restored: number
  /** Fields that already have the old value: an interrupted undo or a person restored it. */
  already: number
  left: number
  /** Fields that were not restored; in a plan every field, record by record. */
  rows: UndoRow[]
  /** The notes and tasks of the run, which are taken back first. Absent: it has none, or one field alone is undone. */
  notes?: UndoneNotes
  /** The reason why the undo ended early: the CRM refuses requests, or it was interrupted. The same call continues it. */
  unfinished?: string | undefined
}

const longestPauseMs = 30_000

/** Returns undefined for a run whose source keeps no values: there is nothing to restore. */
export async function undoableRun(context: Pick<Context, 'runs'>, runId: string): Promise<Run | undefined> {
  const run = await context.runs.get(runId)
  if (!run) throw new ConfigError('no_such_run', `there is no run ${runId}; \`paydirt runs\` lists them`)
  return keepsValues(run.connector) ? run : undefined
}

/**
 * Restores the values that a run overwrote, record by record. Each record is read again, and only a field that still has the
 * value we wrote gets its old value back, or is cleared. After a crash between the write and its mark, the next undo finds
 * the old value in the record and marks it.
 */
export async function undoRun(
  context: Pick<Context, 'fieldWrites' | 'now'>,
  connector: Connector,
  run: Run,
  options: UndoOptions,
): Promise<Undone> {
  const { fieldWrites } = context
  const rows: UndoRow[] = []
  const counts: Record<UndoOutcome, number> = { restored: 0, would_restore: 0, already: 0, left: 0 }
  const note = (row: UndoRow): void => {
    counts[row.outcome] += 1
    if (row.outcome === 'left') rows.push(row)
  }
  let unfinished: string | undefined
  for await (const writes of writesToUndo(fieldWrites, run.id, options)) {
    const ids = [...new Set(writes.map(({ recordId }) => recordId))].filter((id) => !isForgottenRecord(id))
    const { current, placeOf } = await followMerges(context, connector, run.entity, ids, {
      isNoted: !options.plan,
    })
    const decided = withoutDisputes(
      writes.map((write) => ({ write, ...decideUndo(write, current.get(write.recordId)) })),
      placeOf,
    )
    if (options.plan) {
      for (const each of decided) {
        counts[plannedOutcome(each)] += 1
        rows.push(plannedRow(each, current.get(each.write.recordId), placeOf))
      }
      continue
    }
    for (const { write, reason } of decided) if (reason !== undefined) note(leftRow(write, reason))
    const alreadyOld = decided.filter(({ as }) => as === 'already').map(({ write }) => write)
    for (const write of alreadyOld) note({ record: write.recordId, field: write.field, outcome: 'already' })
    const toRestore = decided.flatMap(({ write, as }) => (as === 'restore' ? [write] : []))
    const own = await ownToRestore(context, run, writes)
    await fieldWrites.markUndone(alreadyOld.map(({ id }) => id))
    unfinished = await restore(context, connector, run, toRestore, { own, placeOf }, note, options.signal)
    if (unfinished !== undefined) break
  }
  if (options.signal.aborted) unfinished ??= 'it was interrupted'
  return {
    runId: run.id,
    connector: run.connector,
    entity: run.entity,
    plan: options.plan,
    restored: counts.restored + counts.would_restore,
    already: counts.already,
    left: counts.left,
    rows,
    unfinished,
  }
}

/**
 * Returns the earlier values of our own fields for records in which no later write of ours remains: these records look as if
 * the run had never happened. The others keep our stamp.
 */
async function ownToRestore(
  { fieldWrites }: Pick<Context, 'fieldWrites'>,
  run: Run,
  writes: readonly FieldWrite[],
): Promise<Map<string, OwnValues>> {
  const byRecord = Map.groupBy(writes, ({ recordId }) => recordId)
  const records = [...byRecord.keys()]
  const before = await fieldWrites.ownBefore(run.id, records)
  const standing = await fieldWrites.ourWrites(run.connector, run.entity, records)
  const own = new Map<string, OwnValues>()
  for (const [record, undone] of byRecord) {
    const values = before.get(record)
    const ids = new Set(undone.map(({ id }) => id))
    const firstTask = undone.reduce(
      (first, { taskId }) => (taskId < first ? taskId : first),
      undone[0]!.taskId,
    )
    const remains = (standing.get(record) ?? []).some(
      ({ id, runId, taskId }) => !ids.has(id) && (runId === run.id || taskId > firstTask),
    )
    if (values && !remains) own.set(record, values)
  }
  return own
}

/** Returns why it ended early, or undefined. */
async function restore(
  { fieldWrites }: Pick<Context, 'fieldWrites'>,
  connector: Connector,
  run: Run,
  writes: readonly FieldWrite[],
  { own, placeOf }: { own: ReadonlyMap<string, OwnValues>; placeOf: (record: string) => string },
  note: (row: UndoRow) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  let waiting = [...Map.groupBy(writes, ({ recordId }) => placeOf(recordId))]
  while (waiting.length > 0) {
    if (signal.aborted) return 'it was interrupted'
    const patches = waiting.map(([id, fields]): RecordPatch => {
      const records = [...new Set(fields.map(({ recordId }) => recordId))]
      // Our own fields of a record that is several have no one state before.
      const before = records.length === 1 ? own.get(records[0]!) : undefined
      return { id, patch: oldValues(fields), own: before }
    })
    const outcomes = await connector.write(run.entity, patches)
    const again: typeof waiting = []
    let pauseMs = 0
    const restored: FieldWrite[] = []
    outcomes.forEach((outcome, index) => {
      const [id, fields] = waiting[index] as (typeof waiting)[number]
      if (outcome.status === 'retry') {
        again.push([id, fields])
        pauseMs = Math.max(pauseMs, outcome.afterMs)
      } else if (outcome.status === 'written') {
        const leftOut = new Map(outcome.leftOut?.map(({ field, reason }) => [field, reason]))
        for (const write of fields) {
          const reason = leftOut.get(write.field)
          if (reason !== undefined) note(leftRow(write, reason))
          else restored.push(write)
        }
      } else {
        const reason = 'reason' in outcome ? outcome.reason : 'the CRM accepted none of it'
        for (const write of fields) note(leftRow(write, reason))
      }
    })
    // Crash window: the CRM has the old values and the ledger does not know it. The next undo finds them in the record.
    await fieldWrites.markUndone(restored.map(({ id }) => id))
    for (const { recordId: record, field } of restored) note({ record, field, outcome: 'restored' })
    waiting = again
    if (waiting.length > 0 && pauseMs > longestPauseMs)
      return `${connector.name} accepts no writes for ${Math.ceil(pauseMs / 1000)} s`
    if (waiting.length > 0) await delay(pauseMs, undefined, { signal }).catch(() => {})
  }
  return undefined
}

function decideUndo(
  write: FieldWrite,
  record: CurrentRecord | undefined,
): { as?: 'restore' | 'already'; reason?: string } {
  if (isForgottenRecord(write.recordId))
    return {
      reason: 'its values were erased: its subject was forgotten, or it is older than retention.recordsDays',
    }
  if (write.state === 'superseded') {
    const wasWritten = write.writtenAt !== null
    return { reason: wasWritten ? 'it was written again since' : 'it was changed while it was written' }
  }
  if (record?.state === 'unreadable') return { reason: record.reason }
  if (record?.state !== 'present') return { reason: 'the record is gone, merged or converted' }
  if (write.new === null)
    return {
      reason: 'its values were erased: its subject was forgotten, or it is older than retention.recordsDays',
    }
  const country = record.values['country_code']
  const now = record.values[write.field]
  const isNone = (value: FieldValue | null) => value === null || value === clearedValue
  const is = (value: FieldValue | null) =>
    now === undefined || value === null || isNone(value)
      ? now === undefined && isNone(value)
      : sameValue(write.field, now, value, typeof country === 'string' ? country : undefined)
  // The old value is checked first: where the record has it to the byte, there is nothing to restore, even if both values mean the same.
  const isOld =
    write.oldRaw === undefined
      ? now === write.old
      : (record.raw ? record.raw[write.field] : now) === write.oldRaw
  if (is(write.new)) return { as: isOld ? 'already' : 'restore' }
  if (is(write.old)) return { as: 'already' }
  return { reason: now === undefined ? 'it has been cleared since' : 'it has been changed since' }
}

function oldValues(writes: readonly FieldWrite[]): Patch {
  return Object.fromEntries(
    writes.map(({ field, old, oldRaw }): [string, FieldChange] => {
      if (oldRaw !== undefined) return [field, { restore: oldRaw }]
      return [field, old === null ? { clear: true } : { set: old }]
    }),
  )
}

function plannedOutcome({ as }: Decided): UndoOutcome {
  if (as === undefined) return 'left'
  return as === 'restore' ? 'would_restore' : 'already'
}

function plannedRow(
  decided: Decided,
  record: CurrentRecord | undefined,
  placeOf: (record: string) => string,
): UndoRow {
  const { write, reason } = decided
  const into = placeOf(write.recordId)
  return {
    record: write.recordId,
    field: write.field,
    outcome: plannedOutcome(decided),
    old: write.oldRaw ?? write.old,
    new: write.new,
    now: (record?.state === 'present' ? record.values[write.field] : undefined) ?? null,
    ...(into === write.recordId ? {} : { mergedInto: into }),
    ...(reason === undefined ? {} : { reason }),
  }
}

function leftRow({ recordId, field }: FieldWrite, reason: string): UndoRow {
  return { record: recordId, field, outcome: 'left', reason }
}
