import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, PaydirtError, RetriableError, describeUnexpected } from '../../domain/errors.ts'
import type { WriteBackJob } from '../../queues/jobs.ts'
import type { Outcome } from '../../queues/queues.ts'
import { isAway } from '../../store/database/retry-while-away.ts'
import type { ReadyTask, ReadyTasks } from '../../store/runs/ready-tasks.ts'
import type { FieldWriteLedger } from '../../store/writes/field-writes.ts'
import { rejectedOutcome } from './task-outcomes.ts'
import { createWriteBatch, type BatchResult, type WriteBatchOptions } from './write-batch.ts'

/**
 * A batch that has begun is finished first. So for a while after a button's record, which may be followed by another, a
 * night's records are written in smaller batches.
 */
const hotPresenceMs = 10_000
/** A wait longer than this is reported to the command that started the run. */
const longWaitMs = 60_000

export interface WriteBackOptions extends WriteBatchOptions {
  tasks: Pick<ReadyTasks, 'ready' | 'finish'>
  fieldWrites: Pick<FieldWriteLedger, 'history' | 'intend' | 'confirmWrites'>
  /** Returns undefined in a process that has no access to the connector. */
  connector: (name: string) => Connector | undefined
  batchSize: number
  /** Called when a person must mend something before anything more can be written. */
  onHalt: (error: ConfigError) => void
  /** Called when the source takes nothing for this long (a daily limit). The records stay ready. */
  onLongWait: (ms: number, reason: string) => void
  /** Called with an error that no code expected. */
  onUnexpected: (failure: { connector: string; entity: string; records: number; problem: string }) => void
}

/** How often a record is tried whose writing meets an error that no code expected. */
const maxTries = 3
const pauseMs = 2_000

/**
 * Writes the ready tasks of one connector and entity, batch by batch, and stores each record's outcome together with its
 * fields. A crash repeats the batch: fields that the first attempt wrote are found in the record, count as written, and
 * keep the old values from before that attempt.
 */
export function createWriteBack(options: WriteBackOptions) {
  const { tasks, fieldWrites } = options
  const writeBatch = createWriteBatch(options)
  const now = () => performance.now()
  const lastHotMs = new Map<string, number>()
  const triesOf = new Map<ReadyTask['id'], number>()

  return async function writeBack({ connector: name, entity }: WriteBackJob): Promise<Outcome> {
    const connector = options.connector(name)
    if (!connector) return
    const most = connector.writesAtOnce ?? options.batchSize
    // Without `writesAtOnce` large batches go another, cheaper way, so they are not made smaller.
    const few = connector.writesAtOnce === undefined ? most : Math.ceil(most / 4)
    const group = `${name}/${entity}`
    for (;;) {
      const wasHotLately = now() - (lastHotMs.get(group) ?? -Infinity) < hotPresenceMs
      const found = await tasks.ready(name, entity, most)
      const hot = found.filter((task) => task.hot)
      if (hot.length > 0) lastHotMs.set(group, now())
      // A button's record does not wait for a night's records.
      const ready = oncePerRecord(hot.length > 0 ? hot : found.slice(0, wasHotLately ? few : most))
      if (ready.length === 0) return
      const { outcomes, retryInMs } = await write(connector, entity, ready)
      if (connector.capabilities.keepsValues) await fieldWrites.confirmWrites(outcomes)
      else await tasks.finish(outcomes)
      if (retryInMs !== undefined) return { againInMs: retryInMs }
      // Tasks that became ready meanwhile have announced a flush of their own.
      if (found.length < most && ready.length === found.length) return
    }
  }

  /**
   * An error that no code expected comes from one record of the batch, as a rule. The batch is divided until that record is
   * alone; it is rejected with its reason after some tries, and the others are written.
   */
  async function write(connector: Connector, entity: string, ready: ReadyTask[]): Promise<BatchResult> {
    try {
      return await writeBatch(connector, entity, ready)
    } catch (error) {
      if (error instanceof PaydirtError || isAway(error)) return delayOrThrow(error)
      const problem = describeUnexpected(error)
      options.onUnexpected({ connector: connector.name, entity, records: ready.length, problem })
      const [first] = ready
      if (first && ready.length === 1) return rejectAfterTries(first, problem)
      const half = Math.ceil(ready.length / 2)
      const one = await write(connector, entity, ready.slice(0, half))
      const other = await write(connector, entity, ready.slice(half))
      const waits = [one.retryInMs, other.retryInMs].filter((ms) => ms !== undefined)
      return {
        outcomes: [...one.outcomes, ...other.outcomes],
        retryInMs: waits.length > 0 ? Math.max(...waits) : undefined,
      }
    }
  }

  function rejectAfterTries(task: ReadyTask, problem: string): BatchResult {
    const tries = (triesOf.get(task.id) ?? 0) + 1
    if (tries < maxTries) {
      triesOf.set(task.id, tries)
      return { outcomes: [], retryInMs: pauseMs }
    }
    triesOf.delete(task.id)
    return { outcomes: [rejectedOutcome(task, `unexpected error: ${problem}`)], retryInMs: undefined }
  }

  /** Called when a whole batch could not be written. Its records stay ready and are written later. */
  function delayOrThrow(error: unknown): BatchResult {
    // Only a RetriableError is mended by time. Any other would come back for ever, so the run stops and reports it.
    if (error instanceof PaydirtError && !(error instanceof RetriableError)) {
      options.onHalt(
        error instanceof ConfigError ? error : new ConfigError(error.code, error.message, { cause: error }),
      )
      return { outcomes: [], retryInMs: longWaitMs }
    }
    if (!(error instanceof RetriableError)) throw error
    const retryInMs = error.retryAfterMs ?? 2_000
    if (retryInMs > longWaitMs) options.onLongWait(retryInMs, error.message)
    return { outcomes: [], retryInMs }
  }
}

/** Keeps the first of several tasks for one record: the others are decided by the values that it leaves. */
function oncePerRecord(ready: ReadyTask[]): ReadyTask[] {
  const seen = new Set<string>()
  return ready.filter(({ recordId }) => !seen.has(recordId) && seen.add(recordId))
}
