import { Hono, type MiddlewareHandler } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { matchedRoutes } from 'hono/route'
import { Problem } from '../server/problem.ts'
import { withTimeout } from '../server/with-timeout.ts'
import { marksChanges, readForPage } from './access/freshness.ts'
import { deskGate, requireCsrf, requireRole, type DeskEnv } from './access/gate.ts'
import { createAssets } from './assets.ts'
import { createNowReader } from './model/read-now.ts'
import { createStoreWatch } from './model/store-watch.ts'
import { shellOf, type Desk, type DeskOptions } from './routes/desk.ts'
import { actionRoutes } from './routes/actions.ts'
import { chartRoutes } from './routes/charts.ts'
import { contractRoutes } from './routes/contract.ts'
import { boardRoutes } from './routes/board.ts'
import { errorRoutes, remainingRoutes } from './routes/errors.ts'
import { failureRoutes } from './routes/failures.ts'
import { listActionRoutes } from './routes/lists/actions.ts'
import { listPageRoutes } from './routes/lists/pages.ts'
import { liveRoutes } from './routes/live.ts'
import { pageRoutes } from './routes/pages.ts'
import { runActionRoutes } from './routes/run-actions.ts'
import { runUndoRoutes } from './routes/run-undo.ts'
import { searchRoutes } from './routes/search.ts'
import { syncPlanRoutes } from './routes/sync-plans.ts'
import { scheduleRoutes } from './routes/schedules.ts'
import { signInRoutes } from './routes/sign-in.ts'
import { taskRoutes } from './routes/tasks.ts'
import { championRoutes } from './routes/watching/champions.ts'
import { monitorRoutes } from './routes/watching/monitors.ts'
import { signalRoutes } from './routes/watching/signals.ts'
import { layout } from './view/layout.ts'

export type { DeskOptions } from './routes/desk.ts'

/** Every path of the desk. The gate guards these and no others, because the API has authenticators of its own. */
const deskPaths = [
  '/',
  '/sign-in',
  '/sign-out',
  '/runs',
  '/runs/*',
  '/records',
  '/tasks/*',
  '/spend',
  '/spend/*',
  '/spending/*',
  '/charts',
  '/contract',
  '/lists',
  '/lists/*',
  '/signals',
  '/signals/*',
  '/monitors',
  '/monitors/*',
  '/champions',
  '/champions/*',
  '/contract/*',
  '/failures',
  '/failures/*',
  '/settings',
  '/schedules/*',
  '/sessions/*',
  '/audit',
  '/sync',
  '/sync/*',
  '/queues',
  '/queues/*',
  '/desk/*',
]

/** Returns the desk's app, to be mounted at the root of the web role's app. */
export function deskRoutes(options: DeskOptions): Hono<DeskEnv> {
  const assets = createAssets()
  const watch = createStoreWatch(options.pingStore)
  const desk: Desk = {
    ...options,
    asset: assets.path,
    watch,
    readNow: createNowReader({ ...options, watch }),
    read: (context, read) => readForPage(options, context, read),
    shell: (context) => shellOf(desk, context),
    async show(context, page, status = 200) {
      return context.html(await layout(await desk.shell(context), page), status)
    },
    requires: (role) => requireRole(role, options.onDenied),
    allowsChange: (role) => [requireRole(role, options.onDenied), requireCsrf(options.onDenied)],
    async recordAction(context, action, target, details) {
      const { user, role } = context.var.visitor
      await options.audit.record({ actor: user ?? 'unknown', role: role ?? 'none', action, target, details })
    },
  }

  const app = new Hono<DeskEnv>()
  app.use('*', namesRoute)
  errorRoutes(app, desk)
  // Assets need no gate: they hold no data, and the sign-in page loads them too.
  app.route('/desk/assets', assets.routes())
  const limitedSize = bodyLimit({
    maxSize: 64 * 1024,
    onError() {
      options.onDenied?.('too_large')
      throw new Problem(413, 'too_large', 'The request is too large.')
    },
  })
  const limitedTime: MiddlewareHandler<DeskEnv> = (context, next) =>
    ['GET', 'HEAD'].includes(context.req.method)
      ? watch.guard(withTimeout(options.timeoutMs ?? 30_000, next()))
      : next()
  for (const path of deskPaths) {
    app.use(path, marksChanges(options.reads), limitedTime, limitedSize, deskGate(options))
  }
  signInRoutes(app, desk)
  pageRoutes(app, desk)
  searchRoutes(app, desk)
  taskRoutes(app, desk)
  actionRoutes(app, desk)
  failureRoutes(app, desk)
  runActionRoutes(app, desk)
  runUndoRoutes(app, desk)
  syncPlanRoutes(app, desk)
  chartRoutes(app, desk)
  contractRoutes(app, desk)
  listActionRoutes(app, desk, listPageRoutes(app, desk))
  signalRoutes(app, desk)
  monitorRoutes(app, desk)
  championRoutes(app, desk)
  scheduleRoutes(app, desk)
  boardRoutes(app, desk)
  liveRoutes(app, desk)
  remainingRoutes(app)
  return app
}

/** Names the request after the pattern of its route, for the log and the metrics. A path may name a record or a visitor's typo. */
const namesRoute: MiddlewareHandler<DeskEnv> = async (context, next) => {
  const named = matchedRoutes(context).findLast(({ method }) => method !== 'ALL')
  const pattern = named?.path.replace(/:(\w+)/g, '{$1}')
  if (pattern !== undefined) (context as { set(name: string, value: string): void }).set('route', pattern)
  await next()
}
