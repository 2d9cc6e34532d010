import type { Hono } from 'hono'
import { describeError } from '../../domain/errors.ts'
import { createApp } from '../../http/server/app.ts'
import { healthRoutes } from '../../http/routes/health.ts'
import type { HttpEnv } from '../../http/server/request-id.ts'
import type { Route } from '../../http/server/route.ts'
import { openApiRoute } from '../../http/routes/openapi.ts'
import { startHttpServer } from '../../http/server/server.ts'
import { countCallRefusal } from '../../store/access/call-refusals.ts'
import type { Context } from '../context/context.ts'
import { watchLiveness } from '../health/liveness.ts'
import { readinessChecks } from '../health/readiness.ts'
import { openDesk } from './desk.ts'
import { deskAccess } from '../config/desk.ts'
import { openHttpRoutes } from './http-routes.ts'
import { openLoadShed } from './load-shed.ts'
import { openMetrics } from './metrics.ts'
import { openReads } from './reads.ts'
import { version } from '../config/version.ts'
import { moduleLog } from '../context/log.ts'

export interface Web {
  url: string
  /** Parts that are not served, and how to enable them. */
  notes: string[]
  /** Answers waiting requests with the current state, then waits for active ones, up to `graceMs`. */
  stop(graceMs: number): Promise<void>
}

/**
 * Starts the HTTP interface: the routes for programs and CRMs, metrics, health and the desk, on one address. Throws
 * ConfigError when the desk would be open to other machines without a sign-in.
 */
export async function startWebServer(context: Context): Promise<Web> {
  const { config, now } = context
  const webLog = moduleLog(context.log, 'web')
  const { db } = context.database
  const stopping = new AbortController()
  const releases: (() => Promise<unknown>)[] = []
  const onError = (error: unknown) =>
    webLog.warn({ problem: describeError(error) }, 'the web role met an error')
  const countRefusal = (reason: string) => countCallRefusal(db, reason, now()).catch(onError)

  async function release(): Promise<void> {
    for (const end of releases.splice(0).reverse()) await end()
  }

  try {
    const access = deskAccess(config.desk, config.host, config.http.publicUrl)
    const engine = await context.openEngine()
    const reads = await openReads(context)
    releases.push(() => reads.close())
    const metrics = await openMetrics(context, access, reads)
    releases.push(() => metrics.close())
    const shed = openLoadShed(context, engine, metrics.recordShed)
    releases.push(() => shed.stop())
    const api = await openHttpRoutes(context, {
      stopping: stopping.signal,
      onError,
      admitBackground: shed.admitBackground,
    })
    releases.push(() => api.close())
    const liveness = watchLiveness()
    releases.push(async () => liveness.stop())
    const routes: Route[] = [
      ...healthRoutes({
        liveness: liveness.read,
        checks: readinessChecks(context, engine),
        isStopping: () => stopping.signal.aborted,
      }),
      ...api.routes,
      ...metrics.routes,
      openApiRoute(() => routes, {
        version,
        monitorHeader: config.http.monitorHeader,
        url: config.http.publicUrl,
      }),
    ]
    const app = createApp({
      routes,
      publicUrl: config.http.publicUrl,
      stopping: stopping.signal,
      onAnswer(entry) {
        metrics.recordAnswer(entry)
        webLog.info(entry, 'answered')
      },
      onRefused: countRefusal,
      onError: (error, requestId) =>
        webLog.error({ problem: describeError(error), requestId }, 'a request failed'),
    })
    const desk = await openDesk(context, {
      access,
      reads,
      signal: stopping.signal,
      onDenied: (kind) => void countRefusal(`desk_${kind}`),
    })
    releases.push(() => desk.close())
    app.route('/', desk.app as unknown as Hono<HttpEnv>)
    const server = await startHttpServer(app, { host: config.host, port: config.port })
    return {
      url: server.url,
      notes: desk.isClosed
        ? [
            'desk: closed, because it can be reached from outside and has no sign-in (set PAYDIRT_ADMIN_PASSWORD_HASH; `paydirt password` makes one)',
          ]
        : [],
      async stop(graceMs) {
        stopping.abort()
        await server.stop(graceMs)
        await release()
      },
    }
  } catch (error) {
    await release()
    throw error
  }
}
