import type { Connector, ScanOptions } from '../../connectors/connector.ts'
import { describeError, type ConfigError } from '../../domain/errors.ts'
import { scan } from '../../producers/scan.ts'
import { parkLeftOfRun } from '../../store/runs/parked-runs.ts'
import { stopText, type RunStop } from '../../store/runs/run-stops.ts'
import type { Run } from '../../store/runs/runs.ts'
import { createStatistics } from '../../store/database/analyse-tables.ts'
import type { Context } from '../context/context.ts'
import { moduleLog } from '../context/log.ts'
import { startMaintenance } from '../upkeep/maintenance.ts'
import { showUntil, untilDone, type Progress } from './run-progress.ts'
import { startWorkerRuntime } from './worker-runtime.ts'
import { pause } from '../../timing/pause.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Prepared } from './preflight.ts'
import { scanWithRetry } from './scan-with-retry.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'

export interface RunOptions {
  /** Taken before the run was opened. */
  prepared: Prepared
  run: Run
  connector: Connector
  /** The part of the connector that is read; absent: all of it. */
  source?: Omit<ScanOptions, 'signal'>
  signal: AbortSignal
  /** The caller makes the run's records searchable, and nobody can search before. */
  searchableAtEnd?: boolean
  /** Called when every record is a task, with the place where the next scan begins. */
  onScanned?: ((watermark: string) => Promise<void>) | undefined
  onProgress?: ((progress: Progress) => void) | undefined
  /** Called with the reason, in words for a person, when the run ends before its work is done. */
  onNotice?: ((text: string) => void) | undefined
}

export type RunEnd = 'finished' | 'parked' | 'interrupted'

/** Returns the end of several runs together. */
export function worstEnd(ends: readonly RunEnd[]): RunEnd {
  return ends.find((end) => end === 'interrupted') ?? ends.find((end) => end === 'parked') ?? 'finished'
}

const graceMs = 15_000

/**
 * Carries one run out in this process: scans, looks up, writes back. Returns `parked` when the rest waits for a budget, for
 * the wallet, for a payment in doubt, or for the person who stopped the run, and `interrupted` when the signal fires. Either way the ledger has the state of all
 * work, and the same call continues it. Throws the ConfigError that stopped the run.
 */
export async function runToEnd(context: Context, options: RunOptions): Promise<RunEnd> {
  const { run, connector, signal } = options
  const { runs, tasks, lookups } = context
  context.connectors.set(connector.name, connector)
  const halt = new AbortController()
  let haltedBy: ConfigError | undefined
  const stop = AbortSignal.any([signal, halt.signal])
  // The cause may be gone since the run was parked: a cap was raised, the wallet was filled.
  await lookups.unpark(run.id)
  const runtime = await startWorkerRuntime(context, {
    owner: { runId: run.id },
    onHalt(error) {
      haltedBy ??= error
      halt.abort()
    },
    onLongWait: leave,
  })
  // At once: a busy ledger may take seconds to tell the progress that is being asked for, and the workers would buy meanwhile.
  signal.addEventListener('abort', stopWorkers, { once: true })
  if (signal.aborted) stopWorkers()
  const maintenance = await startMaintenance(context, ['worker'], {
    searchableAtEnd: options.searchableAtEnd ?? false,
  })
  let stopped: RunStop | undefined
  const watch = startPollLoop({
    name: 'stop a run when it is asked to',
    async work() {
      stopped ??= await runs.stopOf(run.id)
      if (stopped) halt.abort()
    },
    pauseMs: 1_000,
    // While the ledger is out of reach nothing is bought.
    onError: () => {},
  })
  function stopWorkers(): void {
    // It is awaited at the end, where its error is told.
    runtime.stop(graceMs).catch(() => {})
  }
  /** Called when the source refuses requests for too long to wait: the rest of the work stays in the ledger. */
  function leave(ms: number, reason: string): void {
    if (halt.signal.aborted) return
    options.onNotice?.(
      `${reason}; run it again after ${utcMinute(new Date(Math.ceil((context.now().getTime() + ms) / 60_000) * 60_000))}`,
    )
    halt.abort()
  }
  try {
    const settings = {
      ...context.planning,
      runs,
      advance: runtime.advance,
    }
    await scanWithRetry(
      (onPage) => {
        const wakeOnPage = () => {
          onPage()
          runtime.wake()
        }
        return scan(run, connector, { ...settings, onPage: wakeOnPage }, { ...options.source, signal: stop })
      },
      leave,
      stop,
    )
    const watermark = (await runs.get(run.id))?.watermark
    if (!stop.aborted && typeof watermark === 'string') await options.onScanned?.(watermark)
    await untilDone(context, options, stop)
    if (await runs.stopOf(run.id)) await untilArrived(context, run.id, signal)
  } finally {
    signal.removeEventListener('abort', stopWorkers)
    const stopping = Promise.all([watch.stop(), maintenance.stop(), runtime.stop(graceMs)])
    if (stop.aborted) await showUntil(stopping, context, options)
    await stopping
    context.connectors.delete(connector.name)
  }
  // The order may have come after the last look: the rest was parked by it, and the run must not look finished by a command.
  stopped ??= await runs.stopOf(run.id)
  if (stopped) {
    await parkLeftOfRun(context.database.db, run.id, context.now())
    options.onNotice?.(`${stopText(stopped)}; \`paydirt runs ${run.id} --resume\` lets it continue`)
  }
  if (haltedBy || signal.aborted) await runs.setState(run.id, 'stopped')
  if (haltedBy) throw haltedBy
  if (signal.aborted) return 'interrupted'
  if (halt.signal.aborted) {
    await runs.setState(run.id, 'parked')
    return 'parked'
  }
  // Parked work whose time came while the workers stopped is open again. It counts as parked like the rest.
  const { parked, looking_up, ready } = await tasks.counts(run.id)
  const end = parked + looking_up + ready > 0 ? 'parked' : 'finished'
  await knowRunOf(context)
  await runs.setState(run.id, end)
  return end
}

/**
 * The output and the figures of a run read all of it. By statistics from before it has no rows, and each of its rows is then joined
 * by reading a whole table: for a second file of 3,000 that was a quarter of all processor time, and it grows with the square.
 */
async function knowRunOf({ database, log }: Context): Promise<void> {
  try {
    await createStatistics(database.db).refresh()
  } catch (error) {
    moduleLog(log, 'runs').warn({ problem: describeError(error) }, 'the tables of the run were not analysed')
  }
}

/** Waits for what is on its way when a person has stopped the run: its answers are paid for, and are stored and written. */
async function untilArrived({ runs }: Context, runId: string, signal: AbortSignal): Promise<void> {
  const endsAt = Date.now() + graceMs
  while (!signal.aborted && Date.now() < endsAt && (await runs.isUnderWay(runId))) await pause(100, signal)
}
