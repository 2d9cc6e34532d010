import { Hono, type Context, type MiddlewareHandler } from 'hono'
import { CallRefused, type Caller } from './caller.ts'
import { inputProblem, Problem, problemResponse } from './problem.ts'
import { parseJson, readBody } from './read-body.ts'
import { requestIds, type HttpEnv } from './request-id.ts'
import type { Route } from './route.ts'
import { traceRequests } from './trace-requests.ts'
import { withTimeout } from './with-timeout.ts'

export interface AppOptions {
  routes: readonly Route[]
  /** The public address when behind a proxy; callers sign it. */
  publicUrl?: string | undefined
  /** Called once per request. The entry has no address, query or header. */
  onAnswer: (entry: AccessEntry) => void
  /** Called for each refused call with its code, to be counted. */
  onRefused: (reason: string) => Promise<void>
  /** Called with an unexpected error, of which the response tells nothing. */
  onError: (error: unknown, requestId: string) => void
  /** Aborts when the server is to stop. */
  stopping: AbortSignal
  /** The time limit of authenticator and handler together. Default 30 s. */
  timeoutMs?: number | undefined
}

export interface AccessEntry {
  requestId: string
  method: string
  /** The route's pattern, not the path. */
  route: string
  status: number
  ms: number
  caller: string
}

const defaultBodyLimit = 64_000

/**
 * Creates the HTTP interface. Every response has a request id, every refusal is a problem document, and a handler runs
 * only for an authenticated request whose input matches the schemas of its route.
 */
export function createApp(options: AppOptions): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>()
  app.use('*', traceRequests(), requestIds(), accessLog(options), securityHeaders(), readableTargets())
  app.onError((error, context) => {
    const requestId = context.get('requestId')
    if (error instanceof Problem) return problemResponse(error, requestId)
    options.onError(error, requestId)
    return problemResponse(new Problem(500, 'internal', 'see the log entry with this request id'), requestId)
  })
  const methods = new Map<string, string[]>()
  for (const each of options.routes) {
    const path = honoPath(each.path)
    app.on([each.method.toUpperCase()], path, (context) => serve(each, context, options))
    methods.set(path, [...(methods.get(path) ?? []), ...methodsOf(each)])
  }
  for (const [path, allowed] of methods) {
    app.all(path, () => {
      throw new Problem(405, 'method_not_allowed', `allowed methods: ${allowed.join(', ')}`, {
        headers: { allow: allowed.join(', ') },
      })
    })
  }
  app.notFound((context) =>
    problemResponse(
      new Problem(404, 'no_such_route', 'no such route; /openapi.json lists all routes'),
      context.get('requestId'),
    ),
  )
  return app
}

async function serve(each: Route, context: Context<HttpEnv>, options: AppOptions): Promise<Response> {
  const receivedMs = performance.now()
  context.set('route', each.path)
  const request = context.req.raw
  const text = each.body || each.method === 'post' ? await bodyOf(each, request, options) : ''
  let caller: Caller | undefined
  let isOver = false
  try {
    // A stream responds as soon as it starts, so the limit does not cut it off.
    const response = await withTimeout(options.timeoutMs ?? 30_000, respond())
    if (response.status >= 500) await releaseNonce()
    return response
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) await releaseNonce()
    throw error
  } finally {
    isOver = true
  }

  async function respond(): Promise<Response> {
    each.admit?.(context.req.query())
    caller = await authenticate()
    if (isOver) {
      // The caller already got the timeout response and may retry with the same signature.
      await releaseNonce()
      throw new Problem(503, 'timeout', 'the request took too long')
    }
    context.set('caller', caller.name)
    return each.handle({
      params: checked(each.params, context.req.param(), 'path'),
      query: checked(each.query, context.req.query(), 'query'),
      body: await readInput(),
      caller,
      text,
      requestId: context.get('requestId'),
      receivedMs,
      signal: AbortSignal.any([request.signal, options.stopping]),
      context,
    })
  }

  async function readInput(): Promise<unknown> {
    if (!each.body) return undefined
    try {
      const value = parseJson(text, request.headers.get('content-type'), each.anyContentType)
      return checked(each.body, value, 'body')
    } catch (error) {
      if (error instanceof Problem) await each.onUnreadable?.(text, error.code)
      throw error
    }
  }

  async function authenticate(): Promise<Caller> {
    const { method, headers } = request
    const uri = calledUri(context, options.publicUrl)
    try {
      return await each.authenticator.authenticate({ method, uri, headers, body: text })
    } catch (error) {
      if (error instanceof CallRefused) await options.onRefused(error.code)
      throw error
    }
  }

  async function releaseNonce(): Promise<void> {
    if (caller?.kind === 'system') await caller.releaseNonce?.().catch(() => {})
  }
}

async function bodyOf(each: Route, request: Request, options: AppOptions): Promise<string> {
  try {
    return await readBody(request, each.bodyLimit ?? defaultBodyLimit)
  } catch (error) {
    if (error instanceof Problem && error.status === 413) await options.onRefused('too_large')
    throw error
  }
}

function checked(schema: Route['params'], value: unknown, where: 'body' | 'query' | 'path'): unknown {
  if (!schema) return undefined
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw inputProblem(result.error, where)
}

/** Returns the URI exactly as the caller sent it; a router may have decoded or normalised the path. */
function calledUri(context: Context<HttpEnv>, publicUrl: string | undefined): string {
  const own = new URL(context.req.url)
  const target = context.env?.incoming?.url ?? `${own.pathname}${own.search}`
  return `${publicUrl?.replace(/\/+$/, '') ?? own.origin}${target}`
}

function accessLog(options: AppOptions): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const startedMs = performance.now()
    await next()
    options.onAnswer({
      requestId: context.get('requestId'),
      method: context.req.method,
      route: context.get('route') ?? 'other',
      status: context.res.status,
      ms: Math.round(performance.now() - startedMs),
      caller: context.get('caller') ?? 'none',
    })
    if (options.stopping.aborted) context.res.headers.set('connection', 'close')
  }
}

/** Defaults for data. A page sets its own content security policy, which is kept. */
const defaultHeaders = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
}

function securityHeaders(): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    await next()
    for (const [name, value] of Object.entries(defaultHeaders)) {
      if (!context.res.headers.has(name)) context.res.headers.set(name, value)
    }
  }
}

/**
 * Refuses a path or query with an encoded control character: no name has one, and Postgres cannot take U+0000. It holds for
 * what is mounted beside the routes too, the desk among them.
 */
function readableTargets(): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { pathname, search } = new URL(context.req.url)
    if (/%(?:[01][0-9a-f]|7f)/i.test(pathname) || /%00/.test(search))
      throw new Problem(400, 'malformed_target', 'the path or query has a control character')
    await next()
  }
}

function methodsOf({ method }: Route): string[] {
  return method === 'get' ? ['GET', 'HEAD'] : ['POST']
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
