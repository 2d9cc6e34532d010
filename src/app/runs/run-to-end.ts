import type { Connector, ScanOptions } from '../../connectors/connector.ts'
import type { ConfigError } from '../../domain/errors.ts'
import type { TaskStatus } from '../../domain/words.ts'
import { scan } from '../../producers/scan.ts'
import type { Run } from '../../store/runs/runs.ts'
import { retryWhileAway } from '../../store/database/retry-while-away.ts'
import type { Context } from '../context/context.ts'
import { startMaintenance } from './maintenance.ts'
import { startWorkerRuntime } from './worker-runtime.ts'
import { pause } from '../../timing/pause.ts'
import { preflight, refuseAboveCaps } from './preflight.ts'
import { scanWithRetry } from './scan-with-retry.ts'

export interface RunOptions {
  run: Run
  connector: Connector
  /** What of the connector is read. */
  source?: Omit<ScanOptions, 'signal'>
  signal: AbortSignal
  /** Every record is a task now, and this is where the next scan begins. */
  onScanned?: (watermark: string) => Promise<void>
  onProgress?: (progress: Progress) => void
  /** Why the run ends before its work does, in words for a person. */
  onNotice?: (text: string) => void
}

export interface Progress {
  records: number
  scanned: boolean
  counts: Record<TaskStatus, number>
  settledAtomic: bigint
}

export type RunEnd = 'finished' | 'parked' | 'interrupted'

const graceMs = 15_000

/**
 * Takes one run to its end in this process: scans, looks up, writes back. Ends `parked` when all that is left waits for
 * a budget, a wallet or a doubt, and `interrupted` when the signal fires; either way everything stands in the ledger and
 * the same call goes on with it. Throws the ConfigError that made going on pointless.
 */
export async function runToEnd(context: Context, options: RunOptions): Promise<RunEnd> {
  const { run, connector, signal } = options
  const { runs, tasks, lookups } = context
  refuseAboveCaps(context.config, run)
  await preflight(context)
  context.connectors.set(connector.name, connector)
  const halt = new AbortController()
  let haltedBy: ConfigError | undefined
  const stop = AbortSignal.any([signal, halt.signal])
  // Whoever starts a run again has acted on what parked it: a cap raised, a wallet filled.
  await lookups.unpark(run.id)
  const crew = await startWorkerRuntime(context, {
    owner: { runId: run.id },
    onHalt(error) {
      haltedBy ??= error
      halt.abort()
    },
    onLongWait: leave,
  })
  const maintenance = await startMaintenance(context, ['worker'])
  /** The source wants to be left alone for longer than anybody would wait: the rest stays in the ledger. */
  function leave(ms: number, reason: string): void {
    if (halt.signal.aborted) return
    options.onNotice?.(`${reason}; goes on after ${new Date(context.now().getTime() + ms).toISOString()}`)
    halt.abort()
  }
  try {
    const settings = {
      ...context.planning,
      runs,
      advance: crew.advance,
      onPage: () => crew.wake(),
    }
    await scanWithRetry(
      () => scan(run, connector, settings, { ...options.source, signal: stop }),
      leave,
      stop,
    )
    const watermark = (await runs.get(run.id))?.watermark
    if (!stop.aborted && typeof watermark === 'string') await options.onScanned?.(watermark)
    await untilDone(context, options, stop)
  } finally {
    await Promise.all([maintenance.stop(), crew.stop(graceMs)])
    context.connectors.delete(connector.name)
  }
  if (haltedBy || signal.aborted) await runs.setState(run.id, 'stopped')
  if (haltedBy) throw haltedBy
  if (signal.aborted) return 'interrupted'
  if (halt.signal.aborted) {
    await runs.setState(run.id, 'parked')
    return 'parked'
  }
  // Parked work whose time came while the crew was going home is open again: it is left like the rest that is parked.
  const { parked, looking_up, ready } = await tasks.counts(run.id)
  const end = parked + looking_up + ready > 0 ? 'parked' : 'finished'
  await runs.setState(run.id, end)
  return end
}

/** How long a database may be away before the run is given up: a restart is no reason, the workers go on by themselves. */
const patienceMs = 60_000

/** Looks at the ledger until no task of the run is open. Looking is cheap for small runs and rare for large ones. */
async function untilDone(
  context: Context,
  { run, onProgress }: RunOptions,
  signal: AbortSignal,
): Promise<void> {
  const { tasks, runs } = context
  async function look(): Promise<{ isDone: boolean; progress?: Progress; tookMs: number }> {
    const startedMs = performance.now()
    const isDone = !(await tasks.hasOpen(run.id))
    const tookMs = () => performance.now() - startedMs
    if (!onProgress) return { isDone, tookMs: tookMs() }
    const [counts, settledAtomic, current] = [
      await tasks.counts(run.id),
      await runs.spent(run.id),
      await runs.get(run.id),
    ]
    const progress = { records: current?.records ?? 0, scanned: true, counts, settledAtomic }
    return { isDone, progress, tookMs: tookMs() }
  }
  while (!signal.aborted) {
    const looked = await retryWhileAway(look, { forMs: patienceMs, signal }).catch((error: unknown) => {
      // Whoever interrupts a run does not wait for its database.
      if (!signal.aborted) throw error
    })
    if (!looked) return
    const { isDone, progress, tookMs } = looked
    if (progress) onProgress?.(progress)
    if (isDone) return
    await pause(Math.max(100, tookMs * 20), signal)
  }
}
