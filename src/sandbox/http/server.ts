import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRateLimiter } from '../faults/rate-limiter.ts'
import type { Endpoint } from '../stats.ts'
import type { Answer } from './answer.ts'
import { readBody, send } from './answer.ts'
import type { ControlContext } from './control.ts'
import { control } from './control.ts'
import { logo } from './logo.ts'
import type { LookupContext } from './lookup.ts'
import { lookup } from './lookup.ts'

export type ServiceContext = Omit<LookupContext, 'limiter' | 'logoUrl'> & ControlContext

export interface Service {
  serviceUrl: string
  logoUrl: string
  /** Waits for what is being answered, then closes every connection. */
  stop(): Promise<void>
}

export async function startService(context: ServiceContext, port: number): Promise<Service> {
  const { stats, networkName } = context
  const limiters = { limiter: createRateLimiter(), logoLimiter: createRateLimiter() }
  const lookups: Record<string, Endpoint> = {
    [`/companies/${networkName}/lookup`]: 'companies',
    [`/people/${networkName}/lookup`]: 'people',
  }
  const lookupContext: LookupContext = {
    ...context,
    limiter: limiters.limiter,
    logoUrl: () => `${origin()}/logo`,
  }

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { method = 'GET' } = request
    const url = new URL(request.url ?? '/', origin())
    const body = await readBody(request)
    if (url.pathname.startsWith('/_sandbox/')) return control(context, method, url, body)

    const endpoint = url.pathname.startsWith('/logo/') ? 'logo' : lookups[url.pathname]
    if (endpoint === undefined) return counted({ status: 404, body: { error: 'Not found' } })
    stats.request(endpoint)
    if (method !== (endpoint === 'logo' ? 'GET' : 'POST')) {
      return counted({
        status: 405,
        headers: { allow: endpoint === 'logo' ? 'GET' : 'POST' },
        body: { error: 'Method not allowed' },
      })
    }
    if (endpoint === 'logo') {
      const path = (request.url ?? '').slice('/logo/'.length)
      return counted(logo({ ...context, limiter: limiters.logoLimiter }, path))
    }
    return counted(
      await lookup(lookupContext, {
        kind: endpoint === 'companies' ? 'company' : 'person',
        method,
        path: url.pathname,
        url: url.href,
        body,
        header: (name) => {
          const value = request.headers[name.toLowerCase()]
          return Array.isArray(value) ? value[0] : value
        },
      }),
    )
  }

  function counted(result: Answer) {
    if (result === 'drop') stats.dropped()
    else stats.status(result.status)
    return result
  }

  const server = createServer((request, response) => {
    answer(request)
      .catch((error: unknown): Answer => {
        const message = error instanceof Error ? error.message : String(error)
        return counted({ status: 500, body: { error: `sandbox: ${message}` } })
      })
      .then((result) => send(response, result))
  })
  // Longer than any client keeps a connection for, so that a cut connection is always a fault that was asked for.
  server.keepAliveTimeout = 120_000
  server.headersTimeout = 125_000
  await listen(server, port)

  function origin() {
    return `http://127.0.0.1:${(server.address() as AddressInfo | null)?.port ?? 0}`
  }

  return {
    serviceUrl: origin(),
    logoUrl: `${origin()}/logo`,
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeIdleConnections()
      const impatient = setTimeout(() => server.closeAllConnections(), 2000)
      await closed
      clearTimeout(impatient)
    },
  }
}

function listen(server: Server, port: number) {
  return new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
}
