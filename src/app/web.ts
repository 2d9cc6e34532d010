import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Hono } from 'hono'
import { privateKeyToAccount } from 'viem/accounts'
import { describeError } from '../domain/errors.ts'
import { createApp } from '../http/app.ts'
import type { HubspotCallbacks } from '../connectors/hubspot/callbacks.ts'
import { hubspotDoor } from '../http/callers/hubspot.ts'
import { monitorDoor } from '../http/callers/monitor.ts'
import { salesforceDoor } from '../http/callers/salesforce.ts'
import { hubspotCardRoute } from '../http/routes/hubspot-card.ts'
import { hubspotWorkflowRoute } from '../http/routes/hubspot-workflow.ts'
import { monitorRoutes } from '../http/routes/monitor.ts'
import { salesforceRoute } from '../http/routes/salesforce.ts'
import type { CallBudget } from '../domain/ports/call-budget.ts'
import { createMonitor } from '../producers/monitor.ts'
import { createMonitorDeliveries } from '../store/monitor-deliveries.ts'
import { createWorkflowCallbacks } from '../store/workflow-callbacks.ts'
import type { HubspotConfig } from './crm-config.ts'
import { startWorkflowRounds } from './workflow-rounds.ts'
import { apiTokenDoor } from '../http/callers/api-token.ts'
import type { Enrichment } from '../http/enrichment.ts'
import { createEventStreams } from '../http/events.ts'
import { atMostEvery, healthRoutes, type HealthCheck } from '../http/health.ts'
import type { HttpEnv } from '../http/request-id.ts'
import type { Route } from '../http/route.ts'
import { enrichRoute } from '../http/routes/enrich.ts'
import { openApiRoute } from '../http/routes/openapi.ts'
import { runRoutes } from '../http/routes/runs.ts'
import { taskRoutes } from '../http/routes/tasks.ts'
import { startHttpServer } from '../http/server.ts'
import { createTaskIds } from '../http/task-ids.ts'
import { createTaskWatch } from '../http/task-watch.ts'
import { createApiTokenLedger } from '../store/api-tokens.ts'
import { countCallRefusal } from '../store/call-refusals.ts'
import { ledgerId } from '../store/meta.ts'
import { createReplayBook } from '../store/replays.ts'
import { createTaskViews } from '../store/task-view.ts'
import { startRounds } from '../workers/rounds.ts'
import { openButton } from './button.ts'
import { crmNames, isConfigured, openConnector } from './connectors.ts'
import type { Context } from './context.ts'
import { openMetrics } from './metrics.ts'
import { openDesk } from './desk.ts'
import { reach } from './reach.ts'
import { version } from './version.ts'

export interface Web {
  url: string
  app: Hono<HttpEnv>
  /** Ends what waits with the state of now, then what is under way, up to `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/** Starts the HTTP interface, and the rounds that finish what its calls have begun. */
export async function startWebServer(context: Context): Promise<Web> {
  const { config, database, log, now, runs, tasks } = context
  const { db } = database
  const engine = await context.openEngine()
  const stopping = new AbortController()
  const releases: (() => Promise<unknown>)[] = []
  const onError = (error: unknown) => log.warn({ problem: describeError(error) }, 'the web role met an error')

  const names = crmNames.filter((name) => isConfigured(config, name))
  for (const name of names) {
    // In a process with the worker's role they are open already.
    if (context.connectors.has(name)) continue
    const connector = await openConnector(config, name, engine.callBudget)
    context.connectors.set(name, connector)
    releases.push(() => connector.close())
  }
  const button = openButton(context, {
    onReady: (group) => void engine.queues.addWriteBack(group).catch(onError),
  })
  const views = createTaskViews(db)
  const watch = createTaskWatch(views, onError)
  const enrichment: Enrichment = {
    button,
    views,
    watch,
    ids: createTaskIds(await ledgerId(db, randomBytes)),
    connector: (name) => context.connectors.get(name),
    connectorNames: () => [...names],
    recipes: config.recipes,
    defaultRecipe: config.defaultRecipe,
  }
  const tokens = createApiTokenLedger(db, { now })
  const replays = createReplayBook(db, { now })
  const streams = createEventStreams(stopping.signal)
  const mayEnrich = apiTokenDoor(['enrich'], { tokens, now })
  const mayRead = apiTokenDoor(['read', 'enrich'], { tokens, now })
  const callbacks = createWorkflowCallbacks(db, { now })
  const monitor = createMonitor({
    deliveries: createMonitorDeliveries(db, { now }),
    button,
    connectors: names,
    recipes: config.recipes,
    recipe: config.http.monitorRecipe ?? config.defaultRecipe,
    networkName: config.networkName,
    now,
    onError,
  })
  const monitorRounds = startRounds({
    work: async () => void (await monitor.work()),
    pauseMs: 5_000,
    onError,
  })
  const routes: Route[] = [
    ...healthRoutes(readiness(context, engine), () => stopping.signal.aborted),
    enrichRoute(enrichment, mayEnrich),
    ...taskRoutes(enrichment, streams, mayRead),
    ...runRoutes({ runs, tasks, onError }, streams, mayRead),
  ]
  const { http } = config
  const hubspotOptions = { clientSecret: http.hubspotSecret, replays, now }
  routes.push(
    hubspotCardRoute(enrichment, hubspotDoor(hubspotOptions)),
    hubspotWorkflowRoute(enrichment, callbacks, hubspotDoor({ ...hubspotOptions, allowsV2: true })),
    salesforceRoute(
      enrichment,
      salesforceDoor({ secret: http.salesforceSecret, jwt: http.salesforceJwt, replays, now }),
    ),
    ...monitorRoutes(
      monitor,
      () => monitorRounds.wake(),
      monitorDoor({ header: http.monitorHeader, secret: http.monitorSecret }),
    ),
  )
  routes.push(openApiRoute(() => routes, { version, url: config.http.publicUrl }))

  const metrics = await openMetrics(context)
  releases.push(() => metrics.close())
  routes.push(...metrics.routes)
  const app = createApp({
    routes,
    publicUrl: config.http.publicUrl,
    stopping: stopping.signal,
    onAnswer(entry) {
      metrics.recordAnswer(entry)
      log.info(entry, 'answered')
    },
    onRefused: (reason) => countCallRefusal(db, reason, now()).catch(onError),
    onError: (error, requestId) =>
      log.error({ problem: describeError(error), requestId }, 'a request failed'),
  })
  const desk = await openDesk(context, {
    signal: stopping.signal,
    onDenied: (kind) => void countCallRefusal(db, `desk_${kind}`, now()).catch(onError),
  })
  releases.push(() => desk.close())
  app.route('/', desk.app as unknown as Hono<HttpEnv>)
  const rounds = [
    monitorRounds,
    startRounds({ work: async () => void (await button.beginForgotten(names)), pauseMs: 5_000, onError }),
    startRounds({
      async work() {
        await replays.prune()
        await tokens.prune(new Date(now().getTime() - 3_600_000))
      },
      pauseMs: 600_000,
      onError,
    }),
  ]
  if (config.hubspot) {
    const hubspot = await openCallbacks(config.hubspot, engine.callBudget)
    rounds.push(startWorkflowRounds({ callbacks, hubspot, views, now, onError }))
    releases.push(async () => hubspot.close())
  }
  const server = await startHttpServer(app, { host: config.host, port: config.port }).catch(async (error) => {
    await close()
    throw error
  })

  async function close(): Promise<void> {
    await Promise.all(rounds.map((round) => round.stop()))
    await button.idle()
    watch.close()
    for (const release of releases.reverse()) await release()
  }

  return {
    url: server.url,
    app,
    async stop(graceMs) {
      stopping.abort()
      await server.stop(graceMs)
      await close()
    },
  }
}

/** The client is large: it is loaded where HubSpot is set up. */
async function openCallbacks(
  { auth, baseUrl, tenSecondLimit }: HubspotConfig,
  budget: CallBudget,
): Promise<HubspotCallbacks> {
  const { createHubspotCallbacks } = await import('../connectors/hubspot/callbacks.ts')
  return createHubspotCallbacks({
    auth,
    baseUrl,
    budget,
    limits: tenSecondLimit === undefined ? {} : { perTenSeconds: tenSecondLimit },
  })
}

/** What `/readyz` looks at. The chain and the service are other people's: they are asked now and then. */
function readiness(
  context: Context,
  engine: Awaited<ReturnType<Context['openEngine']>>,
): Record<string, HealthCheck> {
  const { config, database, chain } = context
  const nowMs = () => performance.now()
  const walletAddress = config.walletKey && privateKeyToAccount(config.walletKey).address
  return {
    database: async () => void (await sql`select 1`.execute(database.db)),
    redis: async () => void (await engine.redis.redis.ping()),
    service: atMostEvery(
      10_000,
      async () => {
        if (config.serviceUrl === undefined) return 'PAYDIRT_SERVICE_URL is not set'
        await reach('the data service', config.serviceUrl)
        return undefined
      },
      nowMs,
    ),
    wallet: atMostEvery(
      30_000,
      async () => {
        if (config.apiKey) return undefined
        if (walletAddress === undefined) return 'there is no wallet and no API key'
        const balance = await chain.balanceOf(walletAddress)
        return balance >= config.policy.maxPriceAtomic ? undefined : 'holds not enough for one lookup'
      },
      nowMs,
    ),
  }
}
