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
  /** Where the outside reaches us, when a proxy stands before it: callers sign this address. */
  publicUrl?: string | undefined
  /** One line a request: no address, no query, no header. */
  onAnswer: (entry: AccessEntry) => void
  /** A refused call is counted under its reason. */
  onRefused: (reason: string) => Promise<void>
  /** Something that nobody foresaw; the caller is told nothing of it. */
  onError: (error: unknown, requestId: string) => void
  /** Fires when the server is to stop. */
  stopping: AbortSignal
  /** For the door and the handler together. Default 30 s. */
  timeoutMs?: number
}

export interface AccessEntry {
  requestId: string
  method: string
  /** The pattern, not the path. */
  route: string
  status: number
  ms: number
  caller: string
}

const defaultBodyLimit = 64_000

/**
 * The HTTP interface: every answer has an id, every refusal is a problem document, and what is not JSON of the right shape
 * from somebody who may call reaches no handler. Other pages are mounted with `app.route` before `closeApp`.
 */
export function createApp(options: AppOptions): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>()
  app.use('*', traceRequests(), requestIds(), accessLog(options), securityHeaders())
  app.onError((error, context) => {
    const requestId = context.get('requestId')
    if (error instanceof Problem) return problemResponse(error, requestId)
    options.onError(error, requestId)
    return problemResponse(
      new Problem(500, 'internal', 'the log knows more under the id of this request'),
      requestId,
    )
  })
  const methods = new Map<string, string[]>()
  for (const each of options.routes) {
    const path = honoPath(each.path)
    app.on([each.method.toUpperCase()], path, (context) => serve(each, context, options))
    methods.set(path, [...(methods.get(path) ?? []), ...methodsOf(each)])
  }
  for (const [path, allowed] of methods) {
    app.all(path, () => {
      throw new Problem(405, 'method_not_allowed', `this takes ${allowed.join(', ')}`, {
        headers: { allow: allowed.join(', ') },
      })
    })
  }
  app.notFound((context) =>
    problemResponse(
      new Problem(404, 'no_such_route', 'there is nothing here; /openapi.json lists what there is'),
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
    // A stream is answered as soon as it begins, so that this holds for it too.
    const response = await withTimeout(options.timeoutMs ?? 30_000, answer())
    if (response.status >= 500) await giveBack()
    return response
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) await giveBack()
    throw error
  } finally {
    isOver = true
  }

  async function answer(): Promise<Response> {
    caller = await enter()
    if (isOver) {
      // The door took so long that the caller was told to come again, and may.
      await giveBack()
      throw new Problem(503, 'timeout', 'this took too long here')
    }
    context.set('caller', caller.name)
    return each.handle({
      params: checked(each.params, context.req.param(), 'path'),
      query: checked(each.query, context.req.query(), 'query'),
      body: each.body
        ? checked(
            each.body,
            parseJson(text, request.headers.get('content-type'), each.anyContentType),
            'body',
          )
        : undefined,
      caller,
      text,
      requestId: context.get('requestId'),
      receivedMs,
      signal: AbortSignal.any([request.signal, options.stopping]),
      context,
    })
  }

  async function enter(): Promise<Caller> {
    const { method, headers } = request
    const uri = calledUri(context, options.publicUrl)
    try {
      return await each.authenticator.authenticate({ method, uri, headers, body: text })
    } catch (error) {
      if (error instanceof CallRefused) await options.onRefused(error.code)
      throw error
    }
  }

  async function giveBack(): Promise<void> {
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

/** What the caller has called, to the letter: a router may have decoded or folded the path. */
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
      caller: context.get('caller') ?? 'nobody',
    })
    if (options.stopping.aborted) context.res.headers.set('connection', 'close')
  }
}

/** For answers that are data. A page sets its own policy, and keeps it. */
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

function methodsOf({ method }: Route): string[] {
  return method === 'get' ? ['GET', 'HEAD'] : ['POST']
}

function honoPath(path: string): string {
  return path.replace(/\{(\w+)\}/g, ':$1')
}
