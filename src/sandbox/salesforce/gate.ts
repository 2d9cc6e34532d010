import type { Context, MiddlewareHandler } from 'hono'
import type { ConnectionBindings } from '../crm/listen.ts'
import type { SalesforceAuth } from './auth.ts'
import { OauthError } from './auth.ts'
import { SalesforceError, resourceNotFound } from './errors.ts'
import type { SalesforceFaults } from './faults.ts'

export interface SalesforceEnv {
  Bindings: ConnectionBindings
}

export interface SalesforceStats {
  readonly requests: number
  /** Requests by method and path, with record and job ids replaced by `:id`. */
  readonly byPath: Readonly<Record<string, number>>
  /** The most requests that were active at the same time. */
  readonly mostConcurrent: number
}

/** The org's daily quota of API requests. A real org counts over a rolling day; this count is never reset. */
export interface Quota {
  readonly limit: number
  used: number
}

export interface Gate {
  readonly middleware: MiddlewareHandler<SalesforceEnv>
  readonly stats: () => SalesforceStats
}

const OLDEST_VERSION = 31
const NEWEST_VERSION = 68
const MAX_URL_CHARACTERS = 16_384

/** Runs before every handler: forced faults, the session, the version, the quota and its header. */
export function createGate(auth: SalesforceAuth, quota: Quota, faults: SalesforceFaults): Gate {
  const byPath: Record<string, number> = {}
  let requests = 0
  let underWay = 0
  let mostConcurrent = 0

  return {
    stats: () => ({ requests, byPath: { ...byPath }, mostConcurrent }),
    middleware: async (c, next) => {
      requests += 1
      const key = `${c.req.method} ${c.req.path.replace(/\/(?=\w*\d)(?:[A-Za-z0-9]{18}|[A-Za-z0-9]{15}|01g[\w-]+)(?=\/|$)/g, '/:id')}`
      byPath[key] = (byPath[key] ?? 0) + 1
      mostConcurrent = Math.max(mostConcurrent, ++underWay)
      try {
        const fault = faults.take(c.req.method, c.req.path)
        if (fault?.kind === 'drop') return cut(c)
        if (fault?.kind === 'answer')
          return new Response(JSON.stringify(fault.body ?? []), {
            status: fault.status ?? 500,
            headers: { 'content-type': 'application/json;charset=UTF-8', ...fault.headers },
          })
        admit(c)
        await next()
        if (fault?.kind === 'drop-after') return cut(c)
        return undefined
      } finally {
        underWay -= 1
      }
    },
  }

  function admit(c: Context<SalesforceEnv>): void {
    if (c.req.url.length > MAX_URL_CHARACTERS) throw new SalesforceError(414, 'URI_TOO_LONG', 'URI Too Long')
    // "The maximum length for the combined URI and headers is 16,384 bytes" (Salesforce Help, article 000386264).
    let headerBytes = c.req.url.length
    for (const [name, value] of c.req.raw.headers) headerBytes += name.length + value.length + 4
    if (headerBytes > MAX_URL_CHARACTERS)
      throw new SalesforceError(431, 'REQUEST_HEADER_FIELDS_TOO_LARGE', 'Request Header Fields Too Large')
    const { path } = c.req
    if (!path.startsWith('/services/data/')) return
    const version = /^\/services\/data\/v(\d+)\.0(\/|$)/.exec(path)?.[1]
    if (version === undefined && path !== '/services/data/') throw resourceNotFound()
    if (version === undefined) return
    if (Number(version) < OLDEST_VERSION && Number(version) >= 7)
      throw new SalesforceError(410, 'UNSUPPORTED_API_VERSION', 'The requested API version is retired')
    if (Number(version) > NEWEST_VERSION || Number(version) < 7) throw resourceNotFound()
    auth.check(c.req.header('authorization'))
    if (quota.used >= quota.limit)
      throw new SalesforceError(403, 'REQUEST_LIMIT_EXCEEDED', 'TotalRequests Limit exceeded.')
    quota.used += 1
    c.header('Sforce-Limit-Info', `api-usage=${quota.used}/${quota.limit}`)
  }
}

/** Returns the API's response to an error that a handler threw. */
export function answerError(error: Error, c: Context<SalesforceEnv>): Response {
  if (error instanceof SalesforceError) return c.json(error.body(), error.status as 400)
  if (error instanceof OauthError)
    return c.json({ error: error.error, error_description: error.message }, 400)
  // A defect of the stand-in itself is reported to the caller as clearly as possible.
  return c.text(`stand-in failure: ${error.stack}`, 500)
}

/** Three releases per year; 68.0 is Winter '27. */
export function versions(): { label: string; url: string; version: string }[] {
  const seasons = ['Winter', 'Summer', 'Spring'] as const
  return Array.from({ length: NEWEST_VERSION - OLDEST_VERSION + 1 }, (_, index) => {
    const back = NEWEST_VERSION - OLDEST_VERSION - index
    const version = `${NEWEST_VERSION - back}.0`
    return {
      label: `${seasons[back % 3]} '${String(27 - Math.ceil(back / 3)).padStart(2, '0')}`,
      url: `/services/data/v${version}`,
      version,
    }
  })
}

function cut(c: Context<SalesforceEnv>): Response {
  c.env.incoming.socket.destroy()
  return new Response(null, { status: 500 })
}
