import { channel } from 'node:diagnostics_channel'
import type { Context, MiddlewareHandler } from 'hono'
import type { HubspotAuth } from './auth.ts'
import { HubspotError, errorBody, rateLimitBody, type RatePolicy } from './errors.ts'
import type { HubspotFaults } from './faults.ts'
import type { Limiter } from './limits.ts'
import type { ConnectionBindings } from '../crm/listen.ts'

export interface HubspotEnv {
  Bindings: ConnectionBindings
  Variables: { token: string }
}

export interface HubspotStats {
  readonly requests: number
  readonly rateLimited: number
  /** Requests by method and path, with ids replaced by `:id`. */
  readonly byPath: Readonly<Record<string, number>>
  /** The most requests that were active at the same time. */
  readonly mostConcurrent: number
}

export interface Gate {
  readonly middleware: MiddlewareHandler<HubspotEnv>
  readonly stats: () => HubspotStats
}

/** A request that a handler has answered, as `npm run judge` shows it to HubSpot's own specification. */
interface HubspotExchange {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly requestType: string | undefined
  readonly request: string
  readonly status: number
  readonly responseType: string | null
  readonly response: string
}

/** Publishes every exchange of every stand-in of this process. Nobody listens but the judge's recorder. */
const exchanges = channel('paydirt.sandbox.hubspot.exchange')

async function exchangeOf(c: Context<HubspotEnv>): Promise<HubspotExchange> {
  const { pathname, search } = new URL(c.req.url)
  return {
    method: c.req.method,
    path: `${pathname}${search}`,
    requestType: c.req.header('content-type'),
    request: ['GET', 'HEAD'].includes(c.req.method) ? '' : await c.req.text(),
    status: c.res.status,
    responseType: c.res.headers.get('content-type'),
    response: await c.res.clone().text(),
  }
}

/** Runs before every handler, in HubSpot's order: forced faults, authentication, rate limits. */
export function createGate(auth: HubspotAuth, limiter: Limiter, faults: HubspotFaults): Gate {
  const byPath: Record<string, number> = {}
  let requests = 0
  let rateLimited = 0
  let underWay = 0
  let mostConcurrent = 0

  const admit = (c: Context<HubspotEnv>): Response | undefined => {
    if (isPublic(c.req.path)) return undefined
    const { token, isOauth } = auth.check(c.req.header('authorization'))
    c.set('token', token)
    const isSearch = c.req.path.endsWith('/search')
    const broken = limiter.admit(token, isSearch)
    for (const [name, value] of Object.entries(limiter.headers(token, { isSearch, isOauth })))
      c.header(name, value)
    if (!broken) return undefined
    rateLimited += 1
    return c.json(rateLimitBody(broken), 429)
  }

  return {
    stats: () => ({ requests, rateLimited, byPath: { ...byPath }, mostConcurrent }),
    middleware: async (c, next) => {
      requests += 1
      const key = `${c.req.method} ${c.req.path.replace(/\/\d{3,}(?=\/|$)/g, '/:id')}`
      byPath[key] = (byPath[key] ?? 0) + 1
      mostConcurrent = Math.max(mostConcurrent, ++underWay)
      try {
        const fault = faults.take(c.req.method, c.req.path)
        if (fault?.kind === 'drop') return cut(c)
        if (fault?.kind === 'answer') {
          if (fault.status === 429) rateLimited += 1
          const policy = (fault.body as { policyName?: RatePolicy } | undefined)?.policyName
          return new Response(JSON.stringify(policy ? rateLimitBody(policy) : (fault.body ?? {})), {
            status: fault.status ?? 500,
            headers: { 'content-type': 'application/json;charset=utf-8', ...fault.headers },
          })
        }
        const refused = admit(c)
        if (refused) return refused
        await next()
        if (exchanges.hasSubscribers) exchanges.publish(await exchangeOf(c))
        if (fault?.kind === 'drop-after') return cut(c)
        return undefined
      } finally {
        underWay -= 1
      }
    },
  }
}

/** Returns the API's response to an error that a handler threw. */
export function answerError(error: Error, c: Context<HubspotEnv>): Response {
  if (error instanceof HubspotError) return c.json(errorBody(error), error.status as 400)
  // A defect of the stand-in itself is reported to the caller as clearly as possible.
  return c.text(`stand-in failure: ${error.stack}`, 500)
}

function isPublic(path: string): boolean {
  return path.startsWith('/oauth/')
}

function cut(c: Context<HubspotEnv>): Response {
  c.env.incoming.socket.destroy()
  return new Response(null, { status: 500 })
}
