import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { PaydirtError } from '../domain/errors.ts'
import type { ServiceRequest } from '../domain/ports/transport.ts'
import type { Transport } from './transport.ts'

const tracer = trace.getTracer('paydirt.service')

/**
 * Wraps each request to the service in a span. The span holds the host and the shape of the path, and nothing of the
 * request's or the answer's content. No trace id is sent.
 */
export function traceTransport(transport: Transport): Transport {
  return {
    ...transport,
    send: (request) => traced(request, shapeOf(new URL(request.url).pathname), () => transport.send(request)),
    // The path of a logo holds a domain.
    sendForBytes: (request) => traced(request, '/{logo}', () => transport.sendForBytes(request)),
  }
}

async function traced<T extends { status: number }>(
  request: ServiceRequest,
  template: string,
  send: () => Promise<T>,
): Promise<T> {
  const { hostname, port, protocol } = new URL(request.url)
  const attributes = {
    'http.request.method': request.method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
    'url.scheme': protocol.slice(0, -1),
    'url.template': template,
  }
  return tracer.startActiveSpan(
    `${request.method} ${template}`,
    { kind: SpanKind.CLIENT, attributes },
    async (span) => {
      try {
        const response = await send()
        span.setAttribute('http.response.status_code', response.status)
        if (response.status >= 400) {
          span.setAttribute('error.type', String(response.status))
          span.setStatus({ code: SpanStatusCode.ERROR })
        }
        return response
      } catch (error) {
        span.setAttribute('error.type', error instanceof PaydirtError ? error.code : 'unknown')
        span.setStatus({ code: SpanStatusCode.ERROR })
        throw error
      } finally {
        span.end()
      }
    },
  )
}

/** A segment that is not a plain word may be the name of a person or a company. */
export function shapeOf(path: string): string {
  return path
    .split('/')
    .map((segment) => (/^[a-z][a-z_-]{0,29}$/.test(segment) || segment === '' ? segment : '{id}'))
    .join('/')
}
