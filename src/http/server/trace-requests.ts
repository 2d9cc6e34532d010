import { context as active, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { MiddlewareHandler } from 'hono'
import type { HttpEnv } from './request-id.ts'

const tracer = trace.getTracer('paydirt.http')
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Opens a span for each request, named after its route's pattern. It records neither address nor path nor caller. */
export function traceRequests(): MiddlewareHandler<HttpEnv> {
  return async (context, next) => {
    const { raw } = context.req
    const parent = propagation.extract(active.active(), raw.headers, {
      get: (headers, name) => headers.get(name) ?? undefined,
      keys: (headers) => [...headers.keys()],
    })
    const method = methods.has(raw.method) ? raw.method : '_OTHER'
    const options = { kind: SpanKind.SERVER, attributes: { 'http.request.method': method } }
    await tracer.startActiveSpan(method, options, parent, async (span) => {
      try {
        await next()
        const { status } = context.res
        span.setAttribute('http.response.status_code', status)
        if (status >= 500) {
          span.setAttribute('error.type', String(status))
          span.setStatus({ code: SpanStatusCode.ERROR })
        }
      } finally {
        const pattern = context.get('route')
        if (pattern) {
          span.updateName(`${method} ${pattern}`)
          span.setAttribute('http.route', pattern)
        }
        span.end()
      }
    })
  }
}
