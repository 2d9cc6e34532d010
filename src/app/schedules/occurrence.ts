import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, describeError } from '../../domain/errors.ts'
import { scan } from '../../producers/scan.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { Occurrence } from '../../store/runs/schedule-occurrences.ts'
import type { ScheduleLedger } from '../../store/runs/schedules.ts'
import type { Advance } from '../../planning/advance.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Context } from '../context/context.ts'
import { scanWithRetry } from '../runs/scan-with-retry.ts'
import { makeReady, advanceWatermark, openRun, scanned, sourceOf, type SyncJob } from '../runs/sync.ts'

export interface OccurrenceOptions {
  ledger: ScheduleLedger
  connectorOf: (name: string) => Promise<Connector>
  advance: Pick<Advance, 'advanceTasksWaitingFor'>
  /** Names this process among the schedulers. */
  holder: string
  /** Fires when this process is to end: what is begun is left to the next. */
  signal: AbortSignal
  leaseMs: number
  retryMs: number
}

/**
 * Takes one turn: opens its run and scans it into tasks, which the workers then carry out and the run keeper closes. A
 * scheduler that dies on the way loses its lease, and another goes on with the same run behind its last page.
 *
 *     due → scanning → handed_over
 *      ↓       ↓ ↘ due (the source wants to be left alone, or this process ends)
 *     missed  stopped (by its window), failed (something that a person must mend)
 */
export async function runOccurrence(context: Context, options: OccurrenceOptions, id: bigint): Promise<void> {
  const { ledger, holder, leaseMs, retryMs } = options
  const turn = await ledger.claim(id, holder, { leaseMs, retryMs })
  if (!turn) return
  const lost = new AbortController()
  const heartbeat = startPollLoop({
    async work() {
      if (!(await ledger.renew(id, holder, leaseMs))) lost.abort()
    },
    pauseMs: leaseMs / 4,
    // Out of reach for longer than the lease, and another may have taken the turn: its pages then refuse ours.
    onError: () => {},
  })
  try {
    await scanTurn(context, options, turn, AbortSignal.any([options.signal, lost.signal]), lost)
  } catch (error) {
    await setBack(context, options, turn, error)
  } finally {
    await heartbeat.stop()
  }
}

async function scanTurn(
  context: Context,
  options: OccurrenceOptions,
  turn: Occurrence,
  signal: AbortSignal,
  lost: AbortController,
): Promise<void> {
  const { ledger, holder } = options
  const connector = await options.connectorOf(turn.connector)
  await makeReady(connector, [turn.entity])
  const run = await runOf(context, options, turn, connector)
  const job = jobOf(turn, run)
  let wait: { ms: number; reason: string } | undefined
  const left = new AbortController()
  const stop = AbortSignal.any([signal, left.signal])
  const { signal: _, ...source } = await sourceOf(context, connector, job, stop)
  const settings = {
    ...context.planning,
    runs: context.runs,
    advance: options.advance,
  }
  await scanWithRetry(
    () => scan(run, scanned(context, connector, job), settings, { ...source, signal: stop }),
    (ms, reason) => {
      wait = { ms, reason }
      left.abort()
    },
    stop,
  )
  if (wait) {
    const notBefore = new Date(context.now().getTime() + wait.ms)
    return ledger.finishOccurrence(turn.id, holder, { state: 'due', reason: wait.reason, notBefore })
  }
  if (lost.signal.aborted)
    return ledger.finishOccurrence(turn.id, holder, { state: 'handed_over', reason: 'its run was stopped' })
  if (signal.aborted)
    return ledger.finishOccurrence(turn.id, holder, { state: 'due', notBefore: context.now() })
  // Crash window: scanned and the watermark not moved. The turn is taken again, and the scan ends at once.
  const watermark = (await context.runs.get(run.id))?.watermark
  if (typeof watermark === 'string') await advanceWatermark(context, connector, job, run, watermark)
  await ledger.finishOccurrence(turn.id, holder, { state: 'handed_over' })
}

/** The run that the turn has already, or a new one. Crash window: a run opened and not named in the turn is found again. */
async function runOf(
  context: Context,
  { ledger, holder }: OccurrenceOptions,
  turn: Occurrence,
  connector: Connector,
): Promise<Run> {
  const known = turn.runId === null ? undefined : await context.runs.get(turn.runId)
  if (known) {
    if (known.state === 'stopped') await context.runs.setState(known.id, 'scanning')
    return known
  }
  const { run } = await openRun(context, connector, jobOf(turn), 'scanning', {
    trigger: turn.schedule === null ? 'request' : 'schedule',
    occasion: `turn ${turn.id}`,
  })
  await ledger.setRun(turn.id, holder, run.id)
  return run
}

/** A run that is gone on with keeps the recipe under which it was begun: its place in the source is that recipe's. */
function jobOf({ entity, recipe, limit, refresh }: Occurrence, run?: Run): SyncJob {
  const name = run?.recipe ?? recipe
  return {
    entity,
    filter: [],
    ...(refresh ? { refresh } : {}),
    ...(name === null ? {} : { recipe: name }),
    ...(limit === null ? {} : { limit }),
  }
}

/** What a person must mend ends the turn; anything else comes again. */
async function setBack(
  context: Context,
  { ledger, holder, retryMs }: OccurrenceOptions,
  turn: Occurrence,
  error: unknown,
): Promise<void> {
  const problem = describeError(error)
  context.log.error(
    { schedule: turn.schedule, entity: turn.entity, problem },
    'a scheduled sync did not get through',
  )
  if (!(error instanceof ConfigError)) {
    const notBefore = new Date(context.now().getTime() + retryMs)
    return ledger.finishOccurrence(turn.id, holder, { state: 'due', reason: problem, notBefore })
  }
  // Stopped, its run keeps nobody from a turn; the next one of the schedule goes on with it.
  const runId = (await ledger.get(turn.id))?.runId
  if (typeof runId === 'string') await context.runs.setState(runId, 'stopped')
  await ledger.finishOccurrence(turn.id, holder, { state: 'failed', reason: problem })
}
