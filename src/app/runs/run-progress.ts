import type { TaskStatus } from '../../domain/words.ts'
import { retryWhileAway } from '../../store/database/retry-while-away.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { WorkUnderWay } from '../../store/runs/task-progress.ts'
import { pause } from '../../timing/pause.ts'
import type { Context } from '../context/context.ts'

export interface Progress {
  records: number
  scanned: boolean
  counts: Record<TaskStatus, number>
  /** The work done that no final record shows yet: a record may wait for its second lookup until all have had their first. */
  underWay: WorkUnderWay
  settledAtomic: bigint
  /** Settled on direct access, in millionths of a credit. */
  creditsAtomic: bigint
  /** The pace that was learned for the service; undefined while nothing has been asked, or Redis does not respond. */
  pace: LearnedPace | undefined
  /** Nothing more is begun, and answers that are on their way still come in. */
  isStopping: boolean
}

export interface LearnedPace {
  /** Requests a second. */
  perSecond: number
  /** Requests at a time, where the service has such a limit: it is that which holds, and not the rate. */
  atOnce?: number
  /** The share of the requests of the last ten minutes that the service refused as too many, 0 to 1. */
  refusedShare: number
}

interface Shown {
  run: Run
  onProgress?: ((progress: Progress) => void) | undefined
}

/** The time the database may be unreachable before the run fails. A restart takes less, and workers survive it. */
const patienceMs = 60_000
/** A person who looks at a busy ledger sees that the run goes on. */
const slowestPollMs = 5_000
/** Polling is cheap for small runs and rare for large ones. */
const pauseAfter = (tookMs: number) => Math.min(Math.max(100, tookMs * 20), slowestPollMs)

/** Shows the progress until no task of the run is open. */
export async function untilDone(context: Context, shown: Shown, signal: AbortSignal): Promise<void> {
  async function poll(): Promise<{ isDone: boolean; tookMs: number; progress: Progress | undefined }> {
    const startedMs = performance.now()
    const isDone = !(await context.tasks.hasOpen(shown.run.id))
    const progress = shown.onProgress && (await progressOf(context, shown.run, false))
    return { isDone, tookMs: performance.now() - startedMs, progress }
  }
  while (!signal.aborted) {
    const polled = await retryWhileAway(poll, { forMs: patienceMs, signal }).catch((error: unknown) => {
      // An interrupted run does not wait for its database.
      if (!signal.aborted) throw error
    })
    if (!polled) return
    if (polled.progress) shown.onProgress?.(polled.progress)
    if (polled.isDone) return
    await pause(pauseAfter(polled.tookMs), signal)
  }
}

/** Shows the answers that still come in while a run stops. An error of the ledger is left to `stopping`. */
export async function showUntil(stopping: Promise<unknown>, context: Context, shown: Shown): Promise<void> {
  if (!shown.onProgress) return
  const stopped = new AbortController()
  const end = () => stopped.abort()
  stopping.then(end, end)
  for (let tookMs = 0; !stopped.signal.aborted;) {
    await pause(pauseAfter(tookMs), stopped.signal)
    if (stopped.signal.aborted) return
    const startedMs = performance.now()
    const progress = await progressOf(context, shown.run, true).catch(end)
    tookMs = performance.now() - startedMs
    if (progress) shown.onProgress(progress)
  }
}

async function progressOf(context: Context, run: Run, isStopping: boolean): Promise<Progress> {
  const { tasks, runs, config } = context
  const { steps } = config.recipes(run.object, run.recipe)
  const [counts, underWay, spent, current] = [
    await tasks.counts(run.id),
    await tasks.underWay(run.id, steps.length),
    await runs.spent(run.id),
    await runs.get(run.id),
  ]
  const pace = await learnedPace(context)
  return { records: current?.records ?? 0, scanned: true, counts, underWay, ...spent, pace, isStopping }
}

/** A run goes on without its queue for a while, and so does what is shown of it. */
async function learnedPace(context: Context): Promise<LearnedPace | undefined> {
  const snapshot = await context
    .openEngine()
    .then(({ pacer }) => pacer.snapshot())
    .catch(() => undefined)
  if (!snapshot || snapshot.totals.ok + snapshot.totals.limited === 0) return undefined
  const { perSecond, atOnce, limitedShare: refusedShare } = snapshot
  return { perSecond, ...(atOnce !== undefined && { atOnce }), refusedShare }
}
