import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, describeError } from '../../domain/errors.ts'
import type { Advance } from '../../planning/advance.ts'
import { scan } from '../../producers/scan.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Occurrence } from '../../store/runs/schedule-occurrences.ts'
import type { ScheduleLedger } from '../../store/runs/schedules.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Context } from '../context/context.ts'
import { priceRefusal } from '../runs/price-refusal.ts'
import { scanWithRetry } from '../runs/scan-with-retry.ts'
import { isOfList, runListOccurrence } from './list-occurrence.ts'
import { isOfReport, runReportOccurrence } from './report-occurrence.ts'
import { runWatchOccurrence, watchOf } from './watch-occurrence.ts'
import { passPlanned, planScan } from './planned-occurrence.ts'
import {
  advanceWatermark,
  judgedRun,
  makeReady,
  openRun,
  scanned,
  sourceOf,
  type SyncJob,
} from '../runs/sync.ts'
import { moduleLog } from '../context/log.ts'

export interface OccurrenceOptions {
  ledger: ScheduleLedger
  connectorOf: (name: string) => Promise<Connector>
  advance: Pick<Advance, 'advanceTasksWaitingFor'>
  /** Names this process among the schedulers. */
  holder: string
  /** Fires when this process ends: an unfinished scan is left to the next scheduler. */
  signal: AbortSignal
  leaseMs: number
  retryMs: number
}

/**
 * Claims one occurrence, opens its run and scans it into tasks. The workers then carry out the tasks, and the run ends when
 * they are done. A scheduler that dies during the scan loses its lease, and another continues the same run behind its last
 * page.
 *
 *     due → scanning → handed_over
 *      ↓       ↓ ↘ due (the source refuses requests for a while, or this process ends)
 *     missed  stopped (its window ended), failed (a person must fix something)
 */
export async function runOccurrence(context: Context, options: OccurrenceOptions, id: bigint): Promise<void> {
  const { ledger, holder, leaseMs, retryMs } = options
  const occurrence = await ledger.claim(id, holder, { leaseMs, retryMs })
  if (!occurrence) return
  const lost = new AbortController()
  const heartbeat = startPollLoop({
    name: 'renew the lease of a scan',
    async work() {
      if (!(await ledger.renew(id, holder, leaseMs))) lost.abort()
    },
    pauseMs: leaseMs / 4,
    // When the ledger is out of reach for longer than the lease, another scheduler may have claimed the occurrence. The
    // ledger then refuses the pages of this one.
    onError: () => {},
  })
  try {
    await scanOccurrence(context, options, occurrence, AbortSignal.any([options.signal, lost.signal]), lost)
  } catch (error) {
    await postponeOrFail(context, options, occurrence, error)
  } finally {
    await heartbeat.stop()
  }
}

async function scanOccurrence(
  context: Context,
  options: OccurrenceOptions,
  occurrence: Occurrence,
  signal: AbortSignal,
  lost: AbortController,
): Promise<void> {
  const { ledger, holder } = options
  const { id } = occurrence
  if (isOfReport(occurrence)) return runReportOccurrence(context, holder, occurrence)
  const watch = watchOf(occurrence)
  if (watch) return runWatchOccurrence(context, options, { ...occurrence, watch }, lost.signal)
  if (isOfList(occurrence)) return runListOccurrence(context, options, occurrence, lost.signal)
  const connector = await options.connectorOf(occurrence.connector)
  await makeReady(connector, [occurrence.entity])
  const known = occurrence.runId === null ? undefined : await context.runs.get(occurrence.runId)
  const job = jobOf(occurrence, known)
  // Before the run is opened: what does not begin costs nothing, and leaves no run that a later one would continue.
  const refused = await priceRefusal(context, connector, judgedRun(context, connector, job))
  if (refused) throw refused
  const run = await runOf(context, options, occurrence, connector, known)
  let wait: { ms: number; reason: string } | undefined
  const gaveUp = new AbortController()
  const stop = AbortSignal.any([signal, gaveUp.signal])
  const planned =
    occurrence.plan === undefined ? undefined : await planScan(context, connector, occurrence.plan)
  const { signal: _, ...source } = planned
    ? { ...planned.source, limit: job.limit, signal: stop }
    : await sourceOf(context, connector, job, stop)
  const settings = { ...context.planning, runs: context.runs, advance: options.advance }
  await scanWithRetry(
    (onPage) =>
      scan(
        run,
        planned?.connector ?? scanned(context, connector, job),
        { ...settings, onPage },
        { ...source, signal: stop },
      ),
    (ms, reason) => {
      wait = { ms, reason }
      gaveUp.abort()
    },
    stop,
  )
  if (wait) {
    const notBefore = new Date(context.now().getTime() + wait.ms)
    return ledger.finishOccurrence(id, holder, { state: 'due', reason: wait.reason, notBefore })
  }
  if (lost.signal.aborted)
    return ledger.finishOccurrence(id, holder, { state: 'handed_over', reason: 'its run was stopped' })
  if (signal.aborted) return ledger.finishOccurrence(id, holder, { state: 'due', notBefore: context.now() })
  // Crash window: scanned, and the watermark not moved. The occurrence is claimed again, and its scan ends at once.
  if (planned) await passPlanned(context, connector, job, run, planned)
  else {
    const watermark = (await context.runs.get(run.id))?.watermark
    if (typeof watermark === 'string') await advanceWatermark(context, connector, job, run, watermark)
  }
  await ledger.finishOccurrence(id, holder, { state: 'handed_over' })
}

/**
 * Returns the run that the occurrence already has, or opens one. Crash window: a run that was opened and is not yet named in
 * the occurrence is found again by its fingerprint.
 */
async function runOf(
  context: Context,
  { ledger, holder }: OccurrenceOptions,
  occurrence: Occurrence,
  connector: Connector,
  known: Run | undefined,
): Promise<Run> {
  if (known) {
    // Stays stopped where a person stopped it: the lease is lost at its next renewal then.
    if (known.state === 'stopped') await context.runs.setState(known.id, 'scanning')
    return known
  }
  const { run } = await openRun(context, connector, jobOf(occurrence), 'scanning', {
    trigger: occurrence.schedule === null ? 'request' : 'schedule',
    // Part of the fingerprint of runs in existing ledgers.
    occasion: `turn ${occurrence.id}`,
  })
  await ledger.setRun(occurrence.id, holder, run.id)
  return run
}

/** A continued run keeps the recipe under which it began: its place in the source belongs to that recipe. */
function jobOf({ entity, recipe, limit, refresh }: Occurrence, run?: Run): SyncJob {
  return {
    entity,
    filter: [],
    refresh,
    recipe: run?.recipe ?? recipe ?? undefined,
    limit: limit ?? undefined,
  }
}

/** An error that a person must fix ends the occurrence. After any other, it is tried again. */
async function postponeOrFail(
  context: Context,
  { ledger, holder, retryMs }: OccurrenceOptions,
  occurrence: Occurrence,
  error: unknown,
): Promise<void> {
  const problem = describeError(error)
  moduleLog(context.log, 'schedules').error(
    { schedule: occurrence.schedule, entity: occurrence.entity, problem },
    'a scheduled sync failed before its scan ended',
  )
  if (!(error instanceof ConfigError)) {
    const notBefore = new Date(context.now().getTime() + retryMs)
    return ledger.finishOccurrence(occurrence.id, holder, { state: 'due', reason: problem, notBefore })
  }
  // A stopped run does not delay other occurrences, and the next one of the schedule continues it.
  const runId = (await ledger.get(occurrence.id))?.runId
  if (typeof runId === 'string') await context.runs.setState(runId, 'stopped')
  await ledger.finishOccurrence(occurrence.id, holder, { state: 'failed', reason: problem })
}
