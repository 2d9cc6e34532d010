import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, PaydirtError, RetriableError, describeUnexpected } from '../../domain/errors.ts'
import type { WriteBackJob } from '../../queues/jobs.ts'
import type { Outcome } from '../../queues/queues.ts'
import { isAway } from '../../store/database/retry-while-away.ts'
import type { ReadyTask, ReadyTasks } from '../../store/runs/ready-tasks.ts'
import type { FieldWriteLedger } from '../../store/writes/field-writes.ts'
import { rejectedOutcome } from './task-outcomes.ts'
import { pause } from '../../timing/pause.ts'
import { dueNow } from './gather.ts'
import { createWriteBatch, type BatchResult, type WriteBatchOptions } from './write-batch.ts'

/** A wait longer than this is reported to the command that started the run. */
const longWaitMs = 60_000
/** While a batch is being written, on-demand records are looked for this often. */
const hotPollMs = 500
/** The longest that a background record waits for others, so that requests to the CRM are full. */
const defaultGatherMs = 5_000

export interface WriteBackOptions extends WriteBatchOptions {
  tasks: Pick<ReadyTasks, 'readyState' | 'ready' | 'finish'>
  fieldWrites: Pick<FieldWriteLedger, 'history' | 'intend' | 'confirmWrites' | 'noteMerges'>
  /** Returns undefined in a process that has no access to the connector. */
  connector: (name: string) => Connector | undefined
  batchSize: number
  /** The time background records are gathered. Default 5 seconds. */
  gatherMs?: number | undefined
  now: () => Date
  /** Called when gathered records are to be looked at again after this time. */
  onGathering: (job: WriteBackJob, ms: number) => void
  /** Called when a person must mend something before anything more can be written. */
  onHalt: (error: ConfigError) => void
  /** Called when the source takes nothing for this long (a daily limit). The records stay ready. */
  onLongWait: (ms: number, reason: string) => void
  /** Called with an error that no code expected. */
  onUnexpected: (failure: { connector: string; entity: string; records: number; problem: string }) => void
}

/** The most times that a record is tried whose writing meets an error that no code expected. */
const maxTries = 3
const pauseMs = 2_000

/**
 * Writes the ready tasks of one connector and entity, batch by batch, and stores each record's outcome together with its
 * fields. A crash repeats the batch: fields that the first attempt wrote are found in the record, count as written, and
 * keep the old values from before that attempt.
 *
 * On-demand records are written at once, also while a background batch is being written. Background records are gathered
 * (`dueNow`). The queue runs one job of a connector and entity at a time, so nothing else writes these records.
 */
export function createWriteBack(options: WriteBackOptions) {
  const { tasks, fieldWrites, gatherMs = defaultGatherMs } = options
  const writeBatch = createWriteBatch(options)
  const triesOf = new Map<ReadyTask['id'], number>()
  const writtenAtMs = new Map<string, number>()

  return async function writeBack(job: WriteBackJob): Promise<Outcome> {
    const { connector: name, entity } = job
    const connector = options.connector(name)
    if (!connector) return
    const most = connector.writesAtOnce ?? options.batchSize
    const group = `${name}/${entity}`
    for (;;) {
      const state = await tasks.readyState(name, entity)
      if (state.hot > 0) {
        const retryInMs = await writeReady(connector, entity, { hot: true, limit: most })
        if (retryInMs !== undefined) return { againInMs: retryInMs }
        continue
      }
      if (state.count === 0) return
      const nowMs = options.now().getTime()
      const sinceMs = Math.max(state.since?.getTime() ?? nowMs, writtenAtMs.get(group) ?? -Infinity)
      const { count, waitMs } = dueNow(
        { count: state.count, oldestMs: nowMs - sinceMs, moreToCome: state.moreToCome },
        { perRequest: connector.recordsPerWrite, most, gatherMs },
      )
      if (count > 0) {
        writtenAtMs.set(group, nowMs)
        const retryInMs = await writeReady(connector, entity, { hot: false, limit: count })
        if (retryInMs !== undefined) return { againInMs: retryInMs }
      }
      if (waitMs !== undefined) return options.onGathering(job, waitMs)
    }
  }

  /** Writes ready tasks and stores their outcomes. Returns the time after which some have to be written again. */
  async function writeReady(
    connector: Connector,
    entity: string,
    wanted: { hot: boolean; limit: number },
    /** Records of a batch that is being written: its outcome decides what may be written over them. */
    busy: ReadonlySet<string> = new Set(),
  ): Promise<number | undefined> {
    const found = await tasks.ready(connector.name, entity, wanted)
    const ready = oncePerRecord(found.filter(({ recordId }) => !busy.has(recordId)))
    if (ready.length === 0) return undefined
    const writing = write(connector, entity, ready)
    if (!wanted.hot) {
      const inBatch = new Set(ready.map(({ recordId }) => recordId))
      await meanwhile(writing, () => writeReady(connector, entity, { ...wanted, hot: true }, inBatch))
    }
    const { outcomes, retryInMs } = await writing
    if (connector.capabilities.keepsValues) await fieldWrites.confirmWrites(outcomes)
    else await tasks.finish(outcomes)
    return retryInMs
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

/**
 * Repeats `work` until `ends` has ended. `work` returns after how long it has to be repeated. Its errors are left to the
 * next try, because the caller has the outcomes of `ends` to store.
 */
async function meanwhile(ends: Promise<unknown>, work: () => Promise<number | undefined>): Promise<void> {
  const stop = new AbortController()
  const ended = ends.then(
    () => stop.abort(),
    () => stop.abort(),
  )
  for (let pauseMs = hotPollMs; !stop.signal.aborted;) {
    await pause(pauseMs, stop.signal)
    if (stop.signal.aborted) break
    pauseMs = Math.max(hotPollMs, (await work().catch(() => undefined)) ?? 0)
  }
  await ended
}

/** Keeps the first of several tasks for one record: the others are decided by the values that it leaves. */
function oncePerRecord(ready: ReadyTask[]): ReadyTask[] {
  const seen = new Set<string>()
  return ready.filter(({ recordId }) => !seen.has(recordId) && seen.add(recordId))
}
