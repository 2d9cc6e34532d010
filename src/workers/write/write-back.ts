import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, PaydirtError, RetriableError, describeUnexpected } from '../../domain/errors.ts'
import type { WriteBackJob } from '../../queues/jobs.ts'
import type { Outcome } from '../../queues/working.ts'
import { giveWay, goFirst, type GiveWay } from '../../store/database/go-first.ts'
import { isAway } from '../../store/database/retry-while-away.ts'
import type { ReadyTask, ReadyTasks } from '../../store/runs/ready-tasks.ts'
import type { FieldWriteLedger } from '../../store/writes/field-writes.ts'
import type { TaskOutcome } from '../../store/writes/task-outcome.ts'
import { rejectedOutcome } from './task-outcomes.ts'
import { withLogFields, type LogFields } from '../../timing/log-scope.ts'
import { pause } from '../../timing/pause.ts'
import { createTurns } from '../../timing/turns.ts'
import type { Wake } from '../../timing/wake.ts'
import { dueNow, type Due } from './gather.ts'
import { createWriteBatch, type BatchResult, type WriteBatchOptions } from './write-batch.ts'

/** A wait longer than this is reported to the command that started the run. */
const longWaitMs = 60_000
/** While a batch is being written, presses that another process has made ready are looked for this often. */
const hotPollMs = 100
/**
 * Spaces the writes of presses in a burst. Each costs the CRM a read and a write, whether of one record or of a hundred, and
 * an account has one or two hundred calls in ten seconds: a burst that is written one by one would use them up, and then
 * stand still. One press, or a few, are written at once.
 */
const pressWrites = { atOnce: 6, perSecond: 3 }
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
  /** The clock of waits in this process, which nobody sets. Default: the process's own. */
  nowMs?: (() => number) | undefined
  /** Woken, by `writeGroup`, when this process has made a press ready. */
  pressReady: Wake
  /** Called when gathered records are to be looked at again after this time. */
  onGathering: (job: WriteBackJob, ms: number) => void
  /** Called when a person must mend something before anything more can be written. */
  onHalt: (error: ConfigError) => void
  /** Called when the source takes nothing for this long (a daily limit). The records stay ready. */
  onLongWait: (ms: number, reason: string) => void
  /** Called with the outcomes of records, once the ledger has them. */
  onEnded?: ((connector: string, outcomes: readonly TaskOutcome[]) => void) | undefined
  /** Called with an error that no code expected. */
  onUnexpected: (failure: { connector: string; entity: string; records: number; problem: string }) => void
  /** Called for each batch that went to the connector. */
  onBatch?: (batch: { records: number }) => void
}

/** The most times that a record is tried whose writing meets an error that no code expected. */
const maxTries = 3
const pauseMs = 2_000
/** The longest that a batch gives way to presses, before it and within it. A hundred records take 150 to 250 ms. */
const longestWayMs = 200
const never = new AbortController().signal

/**
 * Writes the ready tasks of one connector and entity, batch by batch, and stores each record's outcome together with its
 * fields. A crash repeats the batch: fields that the first attempt wrote are found in the record, count as written, and
 * keep the old values from before that attempt.
 *
 * On-demand records are written at once, also while a background batch is being written and while one waits to be tried
 * again. Background records are gathered (`dueNow`).
 *
 * Invariant: of two writes of one record, the second begins after the outcome of the first is in the ledger. The queue runs
 * one job of a connector and entity at a time, so both writers, of presses and of the background, are in this process: a
 * press whose record is in the batch that is being written (`busy`) waits for its outcome, and within one write a record is
 * there once (`oncePerRecord`).
 *
 * Crash windows of two writers: killed while both write, the open intents are of different records. The queue gives the job
 * to another process when its lock has expired, and each of these records is read and decided again.
 */
export function createWriteBack(options: WriteBackOptions) {
  const { tasks, fieldWrites, gatherMs = defaultGatherMs, nowMs = () => performance.now() } = options
  const writeBatch = createWriteBatch(options)
  const triesOf = new Map<ReadyTask['id'], number>()
  const writtenAtMs = new Map<string, number>()
  /** Until when a batch that could not be written waits. Lost with the process: the next one tries it sooner. */
  const againAtMs = new Map<string, number>()
  const turns = createTurns(pressWrites, nowMs)
  const mostAtOnce = ({ writesAtOnce = options.batchSize }: Connector) => writesAtOnce

  return async function writeBack(job: WriteBackJob): Promise<Outcome> {
    const { connector: name, entity } = job
    const connector = options.connector(name)
    if (!connector) return
    const group = writeGroup(job)
    for (;;) {
      // A press of this process waits for no count of the others.
      if (turns.waitMs(group) === 0 && options.pressReady.take(group)) {
        const retryInMs = await writePresses(connector, entity)
        if (retryInMs !== undefined) return { againInMs: retryInMs }
      }
      const state = await meanwhile(tasks.readyState(name, entity), connector, entity)
      const pressesInMs = state.hot > 0 ? turns.waitMs(group) : undefined
      if (pressesInMs === 0) {
        const retryInMs = await writePresses(connector, entity)
        if (retryInMs !== undefined) return { againInMs: retryInMs }
        continue
      }
      const heldMs = state.count > 0 ? (againAtMs.get(group) ?? 0) - nowMs() : 0
      const { count, waitMs }: Due = heldMs > 0 ? { count: 0 } : dueOf(group, state, connector)
      if (count > 0) {
        // Presses without a pause must not let what is ready grow.
        const ways = giveWay(state.count < 2 * count ? longestWayMs : 0)
        const retryInMs = await writeBackground(connector, entity, count, ways)
        if (retryInMs !== undefined) {
          againAtMs.set(group, nowMs() + retryInMs)
          continue
        }
      }
      if (pressesInMs !== undefined) {
        if (count === 0) await pause(pressesInMs, never)
        continue
      }
      if (heldMs > 0) return { againInMs: heldMs }
      if (waitMs !== undefined) return options.onGathering(job, waitMs)
      if (count === 0) return
    }
  }

  function dueOf(
    group: string,
    { count, since, moreToCome }: Awaited<ReturnType<ReadyTasks['readyState']>>,
    connector: Connector,
  ): Due {
    if (count === 0) return { count }
    const atMs = options.now().getTime()
    const sinceMs = Math.max(since?.getTime() ?? atMs, writtenAtMs.get(group) ?? -Infinity)
    const { recordsPerWrite: perRequest, mostGatherMs = Infinity } = connector
    const limits = { perRequest, most: mostAtOnce(connector), gatherMs: Math.min(gatherMs, mostGatherMs) }
    const due = dueNow({ count, oldestMs: atMs - sinceMs, moreToCome }, limits)
    if (due.count > 0) writtenAtMs.set(group, atMs)
    return due
  }

  /** Returns the time after which some presses have to be written again. */
  function writePresses(
    connector: Connector,
    entity: string,
    /** Records of a batch that is being written: its outcome decides what may be written over them. */
    busy: ReadonlySet<string> = new Set(),
  ): Promise<number | undefined> {
    return goFirst(async () => {
      const wanted = { hot: true, limit: mostAtOnce(connector) }
      const found = await tasks.ready(connector.name, entity, wanted)
      const ready = oncePerRecord(found.filter(({ recordId }) => !busy.has(recordId)))
      if (ready.length === 0) return undefined
      turns.take(writeGroup({ connector: connector.name, entity }))
      return writeAndStore(connector, entity, ready)
    })
  }

  /**
   * Gives way to presses before the records are read, and between the pages of their outcomes. Not between the reading and the write:
   * what a person changes meanwhile would be overwritten.
   */
  async function writeBackground(
    connector: Connector,
    entity: string,
    limit: number,
    ways: GiveWay,
  ): Promise<number | undefined> {
    await meanwhile(ways.begin(), connector, entity)
    const ready = oncePerRecord(await tasks.ready(connector.name, entity, { hot: false, limit }))
    if (ready.length === 0) return undefined
    const stored = writeAndStore(connector, entity, ready, ways)
    return meanwhile(stored, connector, entity, new Set(ready.map(({ recordId }) => recordId)))
  }

  async function writeAndStore(
    connector: Connector,
    entity: string,
    ready: ReadyTask[],
    ways?: GiveWay,
  ): Promise<number | undefined> {
    const { outcomes, retryInMs } = await write(connector, entity, ready)
    if (connector.capabilities.keepsValues) await fieldWrites.confirmWrites(outcomes, ways)
    else await tasks.finish(outcomes)
    options.onEnded?.(connector.name, outcomes)
    return retryInMs
  }

  /**
   * Writes presses until `work` has ended: a batch with the storing of its outcomes, or the count of what is ready. Their errors are
   * left to the next try, because the caller has the batch to end.
   */
  async function meanwhile<T>(
    work: Promise<T>,
    connector: Connector,
    entity: string,
    /** Records of a batch that is being written: its outcome decides what may be written over them. */
    busy: ReadonlySet<string> = new Set(),
  ): Promise<T> {
    const group = writeGroup({ connector: connector.name, entity })
    const stop = new AbortController()
    const ended = work.then(
      () => stop.abort(),
      () => stop.abort(),
    )
    for (let waitMs = hotPollMs; !stop.signal.aborted;) {
      const isWoken = await options.pressReady.wait(group, waitMs, stop.signal)
      // A press that is ready at this moment is the caller's.
      if (isWoken && stop.signal.aborted) options.pressReady.wake(group)
      if (stop.signal.aborted) break
      waitMs = turns.waitMs(group)
      if (waitMs > 0) continue
      const retryInMs = await writePresses(connector, entity, busy).catch(() => undefined)
      waitMs = Math.max(hotPollMs, retryInMs ?? 0)
    }
    await ended
    return work
  }

  /**
   * An error that no code expected comes from one record of the batch, as a rule. The batch is divided until that record is
   * alone; it is rejected with its reason after some tries, and the others are written.
   */
  async function write(connector: Connector, entity: string, ready: ReadyTask[]): Promise<BatchResult> {
    return withLogFields(runsOf(ready), () => writeOrDivide(connector, entity, ready))
  }

  async function writeOrDivide(
    connector: Connector,
    entity: string,
    ready: ReadyTask[],
  ): Promise<BatchResult> {
    try {
      const result = await writeBatch(connector, entity, ready)
      options.onBatch?.({ records: ready.length })
      return result
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

/** The name of what one job writes at a time. */
export function writeGroup({ connector, entity }: WriteBackJob): string {
  return `${connector}/${entity}`
}

/** Returns the runs of a batch for its log lines. */
function runsOf(ready: readonly ReadyTask[]): LogFields {
  const runIds = [...new Set(ready.map(({ runId }) => runId))]
  const [runId] = runIds
  return runIds.length === 1 && runId !== undefined ? { runId } : { runIds: runIds.slice(0, 10) }
}

/** Keeps the first of several tasks for one record: the others are decided by the values that it leaves. */
function oncePerRecord(ready: ReadyTask[]): ReadyTask[] {
  const seen = new Set<string>()
  return ready.filter(({ recordId }) => !seen.has(recordId) && seen.add(recordId))
}
