import { describeError } from '../domain/errors.ts'
import { startAlerts } from './ops/alerts.ts'
import { startPollLoop } from '../timing/poll-loop.ts'
import { configuredCrms, openConnector } from './context/connectors.ts'
import type { Context } from './context/context.ts'
import { startWorkerRuntime } from './runs/worker-runtime.ts'
import { startRunStates } from './schedules/run-states.ts'
import { startSchedules } from './schedules/scheduler.ts'
import { obeyOrder } from './money/spend-switch.ts'

export const roles = ['all', 'web', 'worker', 'scheduler'] as const
export type Role = (typeof roles)[number]

export interface Running {
  /** What is running, a line each. */
  parts: string[]
  /** Ends what was started, the last first. */
  stop(): Promise<void>
}

/** What a new start takes up again: its cause may be gone, and whoever finds it is not parks it anew. */
const retriedCodes = [
  'budget_run',
  'budget_day',
  'budget_month',
  'budget_connector',
  'wallet_empty',
  'unreachable',
]

/** Starts what a role does and keeps on doing it until it is stopped. */
export async function start(context: Context, role: Role): Promise<Running> {
  const parts: string[] = []
  const stops: (() => Promise<unknown>)[] = []
  const has = (wanted: Role) => role === wanted || role === 'all'
  try {
    if (has('worker')) await startWorker(context, parts, stops)
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
    const connector = await openConnector(config, name, engine.callBudget)
    context.connectors.set(name, connector)
    stops.push(() => connector.close())
  }
  await lookups.unparkBy(retriedCodes)
  const crew = await startWorkerRuntime(context, {
    owner: { connectors: names },
    // What a person must mend is parked with its reason; the rest goes on.
    onHalt: (error) =>
      log.error({ code: error.code, problem: describeError(error) }, 'work is parked until this is mended'),
    onLongWait: (ms, reason) => log.warn({ reason, ms }, 'a source wants to be left alone for a while'),
  })
  stops.push(() => crew.stop(15_000))
  parts.push(
    `worker: lookups and write-back for ${names.length > 0 ? names.join(' and ') : 'no CRM (none is set up)'}`,
  )
}

async function startScheduler(
  context: Context,
  parts: string[],
  stops: (() => Promise<unknown>)[],
): Promise<void> {
  const engine = await context.openEngine()
  const onError = (error: unknown) => context.log.warn({ problem: describeError(error) }, 'a round failed')
  const resolver = startPollLoop({
    work: async () => void (await engine.resolve()),
    pauseMs: 60_000,
    onError,
  })
  const orders = startPollLoop({ work: () => obeyOrder(context), pauseMs: 500, onError })
  stops.push(() => Promise.all([resolver.stop(), orders.stop()]))
  const keeper = startRunStates(context)
  stops.push(() => keeper.stop())
  const schedules = await startSchedules(context)
  stops.push(() => schedules.stop(15_000))
  const alerts = startAlerts(context)
  stops.push(() => alerts.stop())
  const names = context.config.schedules.map(({ name }) => name).join(', ')
  parts.push(`scheduler: ${names || 'no schedules'}; settles charges in doubt, closes runs that are done`)
}

async function startWeb(context: Context, parts: string[], stops: (() => Promise<unknown>)[]): Promise<void> {
  // Only where it is wanted: a worker's memory has no room for pages.
  const { startWebServer } = await import('./web/web.ts')
  const web = await startWebServer(context)
  stops.push(() => web.stop(5_000))
  parts.push(`web: ${web.url} (/openapi.json, /readyz)`, ...web.notes)
}
