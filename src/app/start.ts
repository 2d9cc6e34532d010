import { parkingCodes } from '../domain/error-codes.ts'
import { describeError } from '../domain/errors.ts'
import { configuredCrms, openConnector } from './context/connectors.ts'
import type { Context } from './context/context.ts'
import { startMatches } from './matches/start-matches.ts'
import { startCatchUp } from './monitors/start-catch-up.ts'
import { startAlerts } from './ops/alerts.ts'
import { startMaintenance } from './upkeep/maintenance.ts'
import { startWorkerRuntime } from './runs/worker-runtime.ts'
import { startSchedules } from './schedules/scheduler.ts'
import { moduleLog } from './context/log.ts'

export type Role = 'all' | 'web' | 'worker' | 'scheduler'

export interface Running {
  /** One line for each part that is running. */
  parts: string[]
  /** Ends what was started, the last first. */
  stop(): Promise<void>
}

/** Starts the parts of a role. They run until `stop` is called. */
export async function start(context: Context, role: Role): Promise<Running> {
  const parts: string[] = []
  const stops: (() => Promise<unknown>)[] = []
  const has = (wanted: Role) => role === wanted || role === 'all'
  try {
    if (has('worker')) await startWorker(context, parts, stops)
    // Stopped after the scheduler, so that an order to stop spending is obeyed while its scans end.
    const maintained = (['worker', 'scheduler'] as const).filter(has)
    if (maintained.length > 0) {
      const maintenance = await startMaintenance(context, maintained)
      stops.push(() => maintenance.stop())
    }
    if (has('scheduler')) await startScheduler(context, parts, stops)
    if (has('web')) await startWeb(context, parts, stops)
  } catch (error) {
    for (const stop of stops.reverse()) await stop()
    throw error
  }
  return {
    parts,
    async stop() {
      for (const stop of stops.reverse()) await stop()
    },
  }
}

async function startWorker(
  context: Context,
  parts: string[],
  stops: (() => Promise<unknown>)[],
): Promise<void> {
  const { config, log, lookups } = context
  const engine = await context.openEngine()
  const names = configuredCrms(config)
  for (const name of names) {
    const connector = await openConnector(config, name, engine)
    context.connectors.set(name, connector)
    stops.push(() => connector.close())
  }
  // The cause may be gone since the last start. Where it is not, the same lookups are parked again.
  await lookups.unparkBy([...parkingCodes])
  const runtime = await startWorkerRuntime(context, {
    owner: { connectors: names },
    onHalt: (error) =>
      moduleLog(log, 'workers').error(
        { code: error.code, problem: describeError(error) },
        'work is parked until this is fixed',
      ),
    onLongWait: (ms, reason) =>
      moduleLog(log, 'workers').warn({ reason, ms }, 'a source refuses requests for a while'),
  })
  stops.push(() => runtime.stop(15_000))
  parts.push(
    `worker: lookups and write-back for ${names.length > 0 ? names.join(' and ') : 'no CRM (none is set up)'}`,
  )
}

async function startScheduler(
  context: Context,
  parts: string[],
  stops: (() => Promise<unknown>)[],
): Promise<void> {
  const schedules = await startSchedules(context)
  stops.push(() => schedules.stop(15_000))
  const matches = await startMatches(context)
  if (matches) stops.push(() => matches.stop())
  const logs = startCatchUp(context)
  if (logs) stops.push(() => logs.stop())
  const alerts = startAlerts(context)
  stops.push(() => alerts.stop())
  const names = context.config.schedules.map(({ name }) => name).join(', ')
  parts.push(`scheduler: ${names || 'no schedules'}; resolves charges in doubt, closes runs that are done`)
}

async function startWeb(context: Context, parts: string[], stops: (() => Promise<unknown>)[]): Promise<void> {
  // Loaded only for this role: a worker's memory has no room for pages.
  const { startWebServer } = await import('./web/web.ts')
  const web = await startWebServer(context)
  stops.push(() => web.stop(5_000))
  context.holder.desk = context.config.http.publicUrl ?? web.url
  parts.push(`web: ${web.url} (/openapi.json, /readyz)`, ...web.notes)
}
