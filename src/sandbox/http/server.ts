import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRateLimiter } from '../faults/rate-limiter.ts'
import { API_KEY_HEADER } from '../accounts.ts'
import type { Monitors } from '../monitors/index.ts'
import { worldEndpoints } from '../searches/index.ts'
import type { OtherEndpoint } from '../stats.ts'
import type { World } from '../world/world.ts'
import { profile, usage } from './account.ts'
import type { Answer } from './answer.ts'
import { readBody, send } from './answer.ts'
import { companyLookup } from './company-lookup.ts'
import { contactLookup, contactLookupBatch } from './contact-lookup.ts'
import type { ControlContext } from './control.ts'
import { control } from './control.ts'
import { createDirectRoutes } from './direct.ts'
import { atTheEdge } from './edge.ts'
import { logo } from './logo.ts'
import type { LookupContext } from './lookup.ts'
import { lookup } from './lookup.ts'
import type { PaidEndpoint } from './paid-endpoint.ts'
import { profileEndpoint } from './profiles.ts'
import { createRedemptionBatches, redemption } from './redemption.ts'
import { renameKeys } from './rename-keys.ts'

export type ServiceContext = Omit<LookupContext, 'limiter' | 'logoUrl' | 'unanswered'> &
  ControlContext & { monitors: Monitors; world: World }

export interface Service {
  serviceUrl: string
  logoUrl: string
  /** Waits for the responses in progress, then closes every connection. */
  stop(): Promise<void>
}

export async function startService(context: ServiceContext, port: number): Promise<Service> {
  const { stats, networkName } = context
  const limiters = { limiter: createRateLimiter(), logoLimiter: createRateLimiter() }
  const batches = createRedemptionBatches()
  const paid: Record<string, PaidEndpoint> = {
    [`/companies/${networkName}/lookup`]: profileEndpoint('company'),
    [`/people/${networkName}/lookup`]: profileEndpoint('person'),
    ...worldEndpoints(context.world),
    '/companies/lookup': companyLookup,
    '/redeem/people/contact/lookup': contactLookup,
    '/redeem/people/contact/lookup/batch': contactLookupBatch,
    '/redeem/people': redemption,
    '/redeem/people/batch': batches.start,
  }
  const free: Record<string, OtherEndpoint> = {
    '/redeem/people/batch/query': 'redemptions_query',
    '/profile': 'profile',
    '/profile/usage': 'usage',
  }
  const lookupContext: LookupContext = {
    ...context,
    limiter: limiters.limiter,
    unanswered: new Map(),
    logoUrl: () => `${origin()}/logo`,
  }
  const direct = createDirectRoutes(context.monitors.endpoints, lookupContext)

  async function answer(request: IncomingMessage): Promise<Answer> {
    const { method = 'GET' } = request
    const url = new URL(request.url ?? '/', origin())
    const body = await readBody(request)
    if (url.pathname.startsWith('/_sandbox/')) return control(context, method, url, body)

    const isLogo = url.pathname.startsWith('/logo/')
    const endpoint = paid[url.pathname]
    const name = isLogo ? 'logo' : (endpoint?.name ?? free[url.pathname])
    const header = (wanted: string) => {
      const value = request.headers[wanted.toLowerCase()]
      return Array.isArray(value) ? value[0] : value
    }
    if (name === undefined) {
      const answered = await direct({ method, url, body, header })
      if (answered === undefined) stats.request('elsewhere')
      return counted(answered ?? { status: 404, body: { error: 'Not found' } })
    }
    stats.request(name)
    if (method !== (isLogo ? 'GET' : 'POST')) {
      return counted({
        status: 405,
        headers: { allow: isLogo ? 'GET' : 'POST' },
        body: { error: 'Method not allowed' },
      })
    }
    if (isLogo) {
      const path = (request.url ?? '').slice('/logo/'.length)
      return counted(logo({ ...context, limiter: limiters.logoLimiter }, path))
    }
    if (endpoint === undefined) return counted(answerFree(name, url.pathname, body, header))
    return counted(
      await lookup(lookupContext, { endpoint, method, path: url.pathname, url: url.href, body, header }),
    )
  }

  function answerFree(
    name: string,
    path: string,
    body: string | null,
    header: (name: string) => string | undefined,
  ): Answer {
    const refused = atTheEdge(lookupContext, { path, header }, name)
    if (refused !== null) return refused
    if (name === 'redemptions_query') {
      const { status, body: found } = batches.query(
        body,
        header('content-type'),
        networkName,
        context.faults.current,
      )
      return { status, body: renameKeys(found, networkName) }
    }
    const account = context.accounts.find(header(API_KEY_HEADER) ?? '')
    if (account === undefined) return { status: 401, body: { error: 'Unknown API key' } }
    const { plan } = context.faults.current
    return name === 'profile'
      ? profile(account, plan)
      : usage(account, plan, context.monitors.holdings(account))
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
  // Longer than any client keeps a connection, so that a cut connection is always a requested fault.
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
