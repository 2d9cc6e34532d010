import { describeError, FatalError } from '../../domain/errors.ts'
import { readLogEntry, type LogEntry } from '../../domain/monitors/log-entry.ts'
import type { LookupRequest } from '../../domain/record.ts'
import { readPage } from '../../service/calls/read-answer.ts'
import { createLogReads, type ComparedEntries, type ReadableMonitor } from '../../store/monitors/log-reads.ts'
import { openActionRun, type ActionRun } from '../actions/action-run.ts'
import { readAllMonitors } from '../actions/read-effect.ts'
import type { Context } from '../context/context.ts'
import { knownOfAccount, withAcceptedNames } from '../service/known-of-account.ts'
import { assertAffordable, planCall } from '../service/plan-call.ts'
import { compareMonitors, type ShownMonitor } from './compare-monitors.ts'
import { moduleLog } from '../context/log.ts'

export interface CatchUpOptions {
  signal: AbortSignal
  /** Compares and stores nothing. */
  isPlan?: boolean
  /** Also the monitors that were read shortly ago. */
  isForced?: boolean
  /** A monitor is read again after so long. */
  everyMs?: number
  /** An entry that is younger may still be on its way, and is left to the next reading. */
  graceMs?: number
}

export interface CaughtUp extends ComparedEntries {
  monitor: string
  entries: number
  /** Why its log was not read to the end; null where it was. */
  problem: string | null
}

/** An entry may appear in the log after one that is newer. */
const overlapMs = 3_600_000
const retryMs = 300_000
const keptMs = 400 * 86_400_000
const mostPages = 1_000

/**
 * Reads the service's logs of the monitors of the settings, and has what is missing here worked as if it had been delivered. Reading is
 * bought as every other reading is, so that caps and the kill switch hold.
 *
 * Crash windows. Killed
 * - after a page was bought, before it was compared: the position has not moved, and the page is read again.
 * - after a page was compared: its entries are noted with the deliveries that were made of them, in one transaction. Read again, they
 *   are known and make none.
 * - after the last page, before the position: the log is read again from the position before, and all of it is known.
 * - while the same signal is delivered: the meaning belongs to the delivery that is admitted first. The other one ends as `repeated`.
 * - in two processes at once: the entry is noted by one of them.
 */
export async function catchUp(context: Context, options: CatchUpOptions): Promise<CaughtUp[]> {
  const { signal, isPlan = false, isForced = false, everyMs = retryMs } = options
  const { config, database, now } = context
  const reads = createLogReads(database.db, context)
  const names = Object.keys(config.monitors)
  if (names.length === 0) return []
  const taken = await reads.take(names, { everyMs, isForced: isForced || isPlan })
  const monitors = await reads.readable(taken, overlapMs)
  if (monitors.length === 0) return []

  const results: CaughtUp[] = []
  const session = await openReading(context, monitors[0]!.monitorId, signal)
  try {
    const shown = await shownMonitors(context, session)
    if (!isPlan && shown) await compareDeclared(context, shown, signal)
    for (const monitor of monitors) {
      if (signal.aborted) break
      const result = await readLog(context, { session, reads, monitor, options })
      results.push(result.caughtUp)
      if (isPlan) continue
      const { problem } = result.caughtUp
      await reads.finish(monitor.monitorId, {
        position: problem === null ? result.newest : null,
        problem,
        nextAt: new Date(now().getTime() + (problem === null ? everyMs : Math.min(everyMs, retryMs))),
        status: shown && statusOf(shown.find(({ id }) => id === monitor.monitorId)),
      })
    }
  } finally {
    await session.close('finished')
  }
  if (!isPlan) await reads.prune(new Date(now().getTime() - keptMs))
  return results
}

interface Reading {
  session: ActionRun
  reads: ReturnType<typeof createLogReads>
  monitor: ReadableMonitor
  options: CatchUpOptions
}

async function readLog(
  context: Context,
  { session, reads, monitor, options }: Reading,
): Promise<{ caughtUp: CaughtUp; newest: Date | null }> {
  const caughtUp: CaughtUp = {
    monitor: monitor.name,
    entries: 0,
    received: 0,
    missing: 0,
    test: 0,
    noCompany: 0,
    problem: null,
  }
  let newest: Date | null = null
  try {
    for await (const page of pagesOf(context, session, monitor, options.signal)) {
      const due = page.filter((entry) => !isOnItsWay(entry, context.now(), options.graceMs ?? 0))
      const compared = await reads.compare(
        monitor,
        due.map((entry) => ({
          id: entry.id,
          detectedAt: entry.detectedAt,
          isTest: entry.read.isTest,
          meanings: entry.read.signals.map(({ meaning }) => meaning),
          digest: entry.digest,
          body: entry.body,
        })),
        { isPlan: options.isPlan ?? false },
      )
      for (const name of ['received', 'missing', 'test', 'noCompany'] as const)
        caughtUp[name] += compared[name]
      caughtUp.entries += compared.received + compared.missing + compared.test + compared.noCompany
      for (const { detectedAt } of due)
        if (detectedAt && (!newest || detectedAt > newest)) newest = detectedAt
    }
    if (options.signal.aborted) caughtUp.problem = 'it was stopped before its end'
  } catch (error) {
    caughtUp.problem = describeError(error)
  }
  return { caughtUp, newest }
}

/** A time in the future is the service's own clock, and such an entry is not younger than any other. */
function isOnItsWay({ detectedAt }: LogEntry, at: Date, graceMs: number): boolean {
  const ageMs = detectedAt === null ? graceMs : at.getTime() - detectedAt.getTime()
  return ageMs >= 0 && ageMs < graceMs
}

/**
 * Reads a log page by page, down to the entries that are older than the position. The documentation does not show its order: where the
 * newest do not come first, all pages are read. Entries that are added meanwhile move others to later pages, which shows some twice.
 */
async function* pagesOf(
  context: Context,
  session: ActionRun,
  { monitorId, from }: ReadableMonitor,
  signal: AbortSignal,
): AsyncGenerator<LogEntry[]> {
  const contract = context.config.catalogue.of('monitor.logs')
  const idName = contract.answer.rows?.id.value ?? 'detection_log_id'
  const name = `log:${monitorId}:${context.now().getTime().toString(36)}:${context.randomBytes(4).toString('hex')}`
  let seen = 0
  let before: Date | null = null
  let isNewestFirst = true
  for (let number = 1; number <= mostPages && !signal.aborted; number += 1) {
    const request = { monitor_id: monitorId, ...(number > 1 && { page: number }) } as LookupRequest
    const page = readPage(contract, await session.read('monitor.logs', request, `${name}|${number}`))
    if (page.drift.length > 0)
      throw new FatalError('log_drift', `the log is not as the catalogue says: ${page.drift.join('; ')}`)
    const entries = page.rows.map((row) =>
      readLogEntry(row, { idName, monitorId, networkName: context.config.networkName }),
    )
    for (const { detectedAt } of entries) {
      if (!detectedAt || (before && detectedAt > before)) isNewestFirst = false
      before = detectedAt
    }
    yield entries.filter(({ detectedAt }) => detectedAt === null || detectedAt >= from)
    seen += page.arrived
    if (page.arrived === 0 || (page.total !== null && seen >= page.total)) return
    if (isNewestFirst && before && before < from) return
  }
  if (!signal.aborted)
    throw new FatalError('log_too_long', `the log has more than ${mostPages} pages that were not read`)
}

async function openReading(context: Context, monitorId: string, signal: AbortSignal): Promise<ActionRun> {
  const known = await knownOfAccount(context, { asks: false })
  const config = await withAcceptedNames(context.config, context)
  const call = planCall(
    config,
    { operation: 'monitor.logs', body: { monitor_id: monitorId }, isUnchecked: true },
    known,
  )
  assertAffordable(call)
  return openActionRun(context, call, signal)
}

/** Returns undefined where the list of monitors cannot be read now: then nothing is known of their status. */
async function shownMonitors(context: Context, run: ActionRun): Promise<ShownMonitor[] | undefined> {
  try {
    const name = `monitors:${context.now().getTime().toString(36)}:${context.randomBytes(4).toString('hex')}`
    const { monitors, idName } = await readAllMonitors({ context, run }, name)
    return monitors.map((fields) => ({ id: String(fields[idName]), fields }))
  } catch (error) {
    moduleLog(context.log, 'monitors').warn(
      { problem: describeError(error) },
      'the list of monitors was not read',
    )
    return undefined
  }
}

/** Compares the settings with the service, so that an alert can tell what somebody changed there. A failure changes nothing. */
async function compareDeclared(context: Context, shown: ShownMonitor[], signal: AbortSignal): Promise<void> {
  try {
    await compareMonitors(context, { signal, shown })
  } catch (error) {
    moduleLog(context.log, 'monitors').warn(
      { problem: describeError(error) },
      'monitors were not compared with the settings',
    )
  }
}

function statusOf(monitor: ShownMonitor | undefined): string | null {
  const status = monitor?.fields['status']
  return typeof status === 'string' ? status : null
}
