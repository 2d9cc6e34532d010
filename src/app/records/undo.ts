import { setTimeout as delay } from 'node:timers/promises'
import type { Connector, CurrentRecord, OwnValues, RecordPatch } from '../../connectors/connector.ts'
import { definitionOf } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { FieldChange, FieldValue, Patch } from '../../domain/record.ts'
import { sameValue } from '../../domain/field-policy/same-value.ts'
import type { FieldWrite } from '../../store/writes/written-fields.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Context } from '../context/context.ts'

export interface UndoOptions {
  /** Only this field. */
  field?: string | undefined
  /** Says what would be put back, and writes nothing. */
  plan: boolean
  signal: AbortSignal
}

type UndoOutcome = 'restored' | 'would_restore' | 'already' | 'left'

/** One field of one record. Values are left out: `paydirt history` shows them. */
interface UndoRow {
  record: string
  field: string
  outcome: UndoOutcome
  /** Why it was left alone. */
  reason?: string
}

export interface Undone {
  runId: string
  connector: string
  entity: string
  plan: boolean
  restored: number
  /** Stood as before already: put back by an undo that was broken off, or by a person. */
  already: number
  left: number
  /** Everything that was left alone, and of a plan also what would be put back. */
  rows: UndoRow[]
  /** Set when the CRM wants to be left alone, or somebody interrupted: the same command goes on. */
  unfinished?: string
}

const pageSize = 100
const longestPauseMs = 30_000

/** Returns undefined for a run whose source keeps no values: nothing of it could be put back. */
export async function undoableRun(context: Pick<Context, 'runs'>, runId: string): Promise<Run | undefined> {
  const run = await context.runs.get(runId)
  if (!run) throw new ConfigError('no_such_run', `there is no run ${runId}; \`paydirt runs\` lists them`)
  return definitionOf(run.connector).capabilities.keepsValues ? run : undefined
}

/**
 * Puts back what a run wrote and nobody has changed since, record by record: each is read again, and only a field that
 * still holds what we wrote gets its old value, or is cleared. A crash between the write and its mark is met by the next
 * undo: it finds the old value standing, and marks it.
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
    if (row.outcome === 'left' || row.outcome === 'would_restore') rows.push(row)
  }
  let unfinished: string | undefined
  let after = ''
  while (unfinished === undefined) {
    if (options.signal.aborted) {
      unfinished = 'it was interrupted'
      break
    }
    const records = await fieldWrites.recordsOf(run.id, after, pageSize)
    const last = records.at(-1)
    if (last === undefined) break
    after = last
    const writes = await fieldWrites.ofRun(run.id, records, options.field)
    const ids = [...new Set(writes.map(({ recordId }) => recordId))]
    if (ids.length === 0) continue
    const current = await connector.read(run.entity, ids)
    const judged = writes.map((write) => ({ write, ...decideUndo(write, current.get(write.recordId)) }))
    for (const { write, reason } of judged) if (reason !== undefined) note(leftRow(write, reason))
    const standing = judged.filter(({ as }) => as === 'already').map(({ write }) => write)
    for (const write of standing) note({ record: write.recordId, field: write.field, outcome: 'already' })
    const toRestore = judged.flatMap(({ write, as }) => (as === 'restore' ? [write] : []))
    if (options.plan) {
      for (const { recordId, field } of toRestore) note({ record: recordId, field, outcome: 'would_restore' })
      continue
    }
    const own = await ownToRestore(context, run, writes)
    await fieldWrites.markUndone(standing.map(({ id }) => id))
    unfinished = await restore(context, connector, run, toRestore, own, note, options.signal)
  }
  return {
    runId: run.id,
    connector: run.connector,
    entity: run.entity,
    plan: options.plan,
    restored: counts.restored + counts.would_restore,
    already: counts.already,
    left: counts.left,
    rows,
    ...(unfinished === undefined ? {} : { unfinished }),
  }
}

/**
 * What stood in our own fields before the run, for the records in which nothing of ours remains but what was there before:
 * they are to look as if the run had never been. The others keep our stamp.
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

/** Answers why it had to stop before its end. */
async function restore(
  { fieldWrites }: Pick<Context, 'fieldWrites'>,
  connector: Connector,
  run: Run,
  writes: readonly FieldWrite[],
  own: ReadonlyMap<string, OwnValues>,
  note: (row: UndoRow) => void,
  signal: AbortSignal,
): Promise<string | undefined> {
  let waiting = [...Map.groupBy(writes, ({ recordId }) => recordId)]
  while (waiting.length > 0) {
    if (signal.aborted) return 'it was interrupted'
    const patches = waiting.map(([id, fields]): RecordPatch => {
      const before = own.get(id)
      return { id, patch: oldValues(fields), ...(before ? { own: before } : {}) }
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
        const reason = 'reason' in outcome ? outcome.reason : 'the CRM took none of it'
        for (const write of fields) note(leftRow(write, reason))
      }
    })
    // Crash window: the CRM holds the old values and the ledger does not know it. The next undo finds them standing.
    await fieldWrites.markUndone(restored.map(({ id }) => id))
    for (const { recordId, field } of restored) note({ record: recordId, field, outcome: 'restored' })
    waiting = again
    if (waiting.length > 0 && pauseMs > longestPauseMs)
      return `${connector.name} takes no writes for ${Math.ceil(pauseMs / 1000)} s`
    if (waiting.length > 0) await delay(pauseMs, undefined, { signal }).catch(() => {})
  }
  return undefined
}

function decideUndo(
  write: FieldWrite,
  record: CurrentRecord | undefined,
): { as?: 'restore' | 'already'; reason?: string } {
  if (write.state === 'superseded') {
    const wasWritten = write.writtenAt !== null
    return { reason: wasWritten ? 'it was written again since' : 'somebody changed it while it was written' }
  }
  if (record?.state !== 'present') return { reason: 'the record is gone, merged or converted' }
  if (write.new === null) return { reason: 'its subject was forgotten' }
  const country = record.values['country_code']
  const now = record.values[write.field]
  const is = (value: FieldValue | null) =>
    now === undefined || value === null
      ? now === undefined && value === null
      : sameValue(write.field, now, value, typeof country === 'string' ? country : undefined)
  // The old value first: where it stands to the byte there is nothing to put back, though it may say the same as the new.
  const isOld =
    write.oldRaw === undefined
      ? now === write.old
      : (record.raw ? record.raw[write.field] : now) === write.oldRaw
  if (is(write.new)) return { as: isOld ? 'already' : 'restore' }
  if (is(write.old)) return { as: 'already' }
  return { reason: now === undefined ? 'somebody has cleared it since' : 'somebody has changed it since' }
}

function oldValues(writes: readonly FieldWrite[]): Patch {
  return Object.fromEntries(
    writes.map(({ field, old, oldRaw }): [string, FieldChange] => {
      if (oldRaw !== undefined) return [field, { restore: oldRaw }]
      return [field, old === null ? { clear: true } : { set: old }]
    }),
  )
}

function leftRow({ recordId, field }: FieldWrite, reason: string): UndoRow {
  return { record: recordId, field, outcome: 'left', reason }
}
