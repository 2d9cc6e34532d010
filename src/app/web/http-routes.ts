import type { HubspotCallbacks } from '../../connectors/hubspot/callbacks.ts'
import type { HubspotSettings } from '../../connectors/hubspot/definition.ts'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import { apiTokenAuthenticator } from '../../http/callers/api-token.ts'
import { hubspotAuthenticator } from '../../http/callers/hubspot.ts'
import { whoseMonitor } from '../../domain/monitors/whose-monitor.ts'
import { readKnownMonitors } from '../monitors/known-monitors.ts'
import { takeDeliveredMatch } from '../matches/take-delivered.ts'
import { monitorAuthenticator } from '../../http/callers/monitor.ts'
import { salesforceAuthenticator } from '../../http/callers/salesforce.ts'
import type { Authenticator } from '../../http/server/caller.ts'
import type { Enrichment } from '../../http/tasks/enrichment.ts'
import { createEventStreams } from '../../http/server/events.ts'
import type { Route } from '../../http/server/route.ts'
import { enrichRoute } from '../../http/routes/enrich.ts'
import { hubspotCardRoute } from '../../http/routes/hubspot-card.ts'
import { hubspotWorkflowRoute } from '../../http/routes/hubspot-workflow.ts'
import { monitorRoutes } from '../../http/routes/monitor.ts'
import { runRoutes } from '../../http/routes/runs.ts'
import { salesforceRoute } from '../../http/routes/salesforce.ts'
import { taskRoutes } from '../../http/routes/tasks.ts'
import { createTaskIds } from '../../http/tasks/task-ids.ts'
import { createTaskWatch } from '../../http/tasks/task-watch.ts'
import { createMonitor } from '../../producers/monitor.ts'
import { createApiTokenLedger } from '../../store/access/api-tokens.ts'
import { goFirst } from '../../store/database/go-first.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { createMonitorDeliveries } from '../../store/messages/monitor-deliveries.ts'
import { runFigures } from '../../store/views/run-figures.ts'
import { createNonceLedger } from '../../store/access/nonces.ts'
import { createSessionLedger } from '../../store/access/sessions.ts'
import { createTaskViews } from '../../store/runs/task-view.ts'
import { createWorkflowCallbacks } from '../../store/messages/workflow-callbacks.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import { openOnDemand } from '../runs/on-demand.ts'
import { configuredCrms, openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { measuredOnDemand } from './measured-on-demand.ts'
import { startWorkflowCallbacks } from './workflow-callbacks.ts'

export interface OpenedRoutes {
  routes: Route[]
  /** Ends the poll loops and the work that the routes have begun. */
  close(): Promise<void>
}

const hourMs = 3_600_000

/** Opens the routes for programs and CRMs, and the poll loops that finish the work of their calls. */
export async function openHttpRoutes(
  context: Context,
  {
    stopping,
    onError,
    admitBackground,
  }: { stopping: AbortSignal; onError: (error: unknown) => void; admitBackground: () => void },
): Promise<OpenedRoutes> {
  const { config, now, runs, tasks } = context
  const { db } = context.database
  const engine = await context.openEngine()
  const closeConnectors = await openConnectors(context, engine)
  const names = configuredCrms(config)
  const onDemand = openOnDemand(context, {
    onReady: (group) => void engine.queues.addWriteBack(group, { isPress: true }).catch(onError),
    onHot: (keys, isNew) => void engine.queues.hurryLookups(keys, isNew).catch(onError),
  })
  const views = createTaskViews(db)
  const watch = createTaskWatch(views, onError)
  const enrichment: Enrichment = {
    onDemand: measuredOnDemand(onDemand, { watch, views, meter: engine.meter, stopping, onError }),
    views,
    watch,
    ids: createTaskIds(await ledgerId(db, context.randomBytes)),
    connector: (name) => context.connectors.get(name),
    connectorNames: () => names,
    recipes: config.recipes,
    defaultRecipe: config.defaultRecipe,
  }
  const monitor = createMonitor({
    deliveries: createMonitorDeliveries(db, { now }),
    index: context.recordIndex,
    onDemand,
    connectors: names,
    recipes: config.recipes,
    recipe: config.http.monitorRecipe ?? config.defaultRecipe,
    networkName: config.networkName,
    networkHosts: config.networkHosts,
    whose: async (given) => whoseMonitor(given, await readKnownMonitors(context)),
    takeMatch: (name, signals) => takeDeliveredMatch(context, name, signals),
    now,
    onError,
  })
  const tokens = createApiTokenLedger(db, { now })
  const replays = createNonceLedger(db, { now })
  const sessions = createSessionLedger(db, { now, ...config.desk })
  const callbacks = createWorkflowCallbacks(db, { now })

  const monitorLoop = startPollLoop({
    name: 'work the deliveries of monitors',
    // Until none is due: after an outage many come at once.
    work: async (beat) => {
      while (!stopping.aborted && (await monitor.work()) > 0) beat()
    },
    pauseMs: 5_000,
    onError,
  })
  const loops = [
    monitorLoop,
    startPollLoop({
      name: 'begin accepted requests',
      work: async () => void (await onDemand.beginForgotten(names)),
      pauseMs: 5_000,
      onError,
    }),
    startPollLoop({
      name: 'delete what has expired',
      async work() {
        await replays.prune()
        await tokens.prune(new Date(now().getTime() - hourMs))
        await sessions.prune()
      },
      pauseMs: hourMs / 6,
      onError,
    }),
  ]
  const settings = config.connectors.hubspot
  const hubspot = settings && (await openCallbacks(settings, engine.callBudget))
  if (hubspot) loops.push(startWorkflowCallbacks({ callbacks, hubspot, views, now, onError }))

  const { http } = config
  const mayRead = apiTokenAuthenticator(['read', 'enrich'], { tokens, now })
  const streams = createEventStreams(stopping)
  const hubspotKeys = { clientSecret: http.hubspotSecret, nonces: replays, now }
  return {
    routes: [
      enrichRoute(enrichment, ofPress(apiTokenAuthenticator(['enrich'], { tokens, now })), admitBackground),
      ...taskRoutes(enrichment, streams, mayRead),
      ...runRoutes(
        { runs, figures: (id) => runFigures(context.database.db, id), tasks, onError },
        streams,
        mayRead,
      ),
      hubspotCardRoute(enrichment, ofPress(hubspotAuthenticator(hubspotKeys))),
      hubspotWorkflowRoute(enrichment, callbacks, hubspotAuthenticator({ ...hubspotKeys, allowsV2: true })),
      salesforceRoute(
        enrichment,
        ofPress(
          salesforceAuthenticator({
            secret: http.salesforceSecret,
            jwt: http.salesforceJwt,
            nonces: replays,
            now,
          }),
        ),
      ),
      ...monitorRoutes(
        monitor,
        () => monitorLoop.wake(),
        [
          http.monitorHeader,
          ...(http.monitorSignature
            ? [http.monitorSignature.header, http.monitorSignature.timestampHeader ?? '']
            : []),
        ],
        monitorAuthenticator({
          header: http.monitorHeader,
          secret: http.monitorSecret,
          signature: http.monitorSignature && {
            settings: http.monitorSignature,
            secret: http.monitorSigningSecret,
            now,
          },
        }),
      ),
    ],
    async close() {
      await Promise.all(loops.map((loop) => loop.stop()))
      await onDemand.idle()
      watch.close()
      hubspot?.close()
      await closeConnectors()
    },
  }
}

/** Asks the ledger for the caller of a press ahead of other work, like all that follows. */
function ofPress(authenticator: Authenticator): Authenticator {
  return { ...authenticator, authenticate: (request) => goFirst(() => authenticator.authenticate(request)) }
}

/** Opens the connectors that are not open yet. A process with the worker role has opened them already. */
async function openConnectors(context: Context, engine: Engine): Promise<() => Promise<void>> {
  const own: { close(): Promise<void> }[] = []
  for (const name of configuredCrms(context.config)) {
    if (context.connectors.has(name)) continue
    const connector = await openConnector(context.config, name, engine)
    context.connectors.set(name, connector)
    own.push(connector)
  }
  return async () => {
    for (const connector of own) await connector.close()
  }
}

/** The client is large, so it is loaded only when HubSpot is set up. */
async function openCallbacks(
  { auth, baseUrl, tenSecondLimit }: HubspotSettings,
  budget: CallBudget,
): Promise<HubspotCallbacks> {
  const { createHubspotCallbacks } = await import('../../connectors/hubspot/callbacks.ts')
  return createHubspotCallbacks({
    auth,
    baseUrl,
    budget,
    limits: { perTenSeconds: tenSecondLimit },
  })
}
