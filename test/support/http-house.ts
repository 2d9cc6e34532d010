import type { FileConfig } from '../../src/app/config/file.ts'
import type { Overrides } from '../../src/app/context/context.ts'
import { start } from '../../src/app/start.ts'
import { createToken, type TokenRequest } from '../../src/app/web/tokens.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from './house.ts'
import { testSeed } from './seed.ts'

const roomy = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
const quick = { hubspot: { tenSecondLimit: 100_000, searchLimit: 100_000 } }

/** Secrets of the callers, for the tests' own signatures. */
export const secrets = {
  hubspot: 'the-client-secret-of-the-app',
  salesforce: 'the-secret-of-the-org',
  monitor: 'the-secret-of-the-monitor',
}

/** The service as `paydirt start` runs it, in this process, with a HubSpot account of its own and a free port. */
export async function openHttpHouse(
  sandbox: Sandbox,
  options: {
    companies?: number
    contacts?: number
    env?: Record<string, string>
    config?: FileConfig
    overrides?: Overrides
  } = {},
) {
  const hubspot = await startHubspotStandIn({
    seed: testSeed(),
    companies: options.companies ?? 0,
    contacts: options.contacts ?? 0,
    limits: roomy,
  })
  const house = await openHouse(sandbox, {
    env: {
      HUBSPOT_BASE_URL: hubspot.baseUrl,
      HUBSPOT_ACCESS_TOKEN: hubspot.token,
      HUBSPOT_CLIENT_SECRET: secrets.hubspot,
      PAYDIRT_SALESFORCE_SECRET: secrets.salesforce,
      PAYDIRT_MONITOR_SECRET: secrets.monitor,
      PAYDIRT_PORT: '0',
      ...options.env,
    },
    config: { connectors: quick, ...options.config },
    ...(options.overrides ? { overrides: options.overrides } : {}),
  })
  const { context } = house
  const running = await start(context, 'all').catch(async (error: unknown) => {
    await house.close()
    await hubspot.stop()
    throw error
  })
  const url = /web: (\S+)/.exec(running.parts.join('\n'))?.[1] ?? ''
  let stopped: Promise<void> | undefined

  return {
    ...house,
    hubspot,
    url,
    /** Text of a new token. */
    async token(wish: Partial<TokenRequest> = {}) {
      const { token } = await createToken(context, {
        name: 'a test',
        scopes: ['enrich'],
        perMinute: 100_000,
        dayCapAtomic: null,
        ...wish,
      })
      return token
    },
    addCompany: (properties: Record<string, string>) => hubspot.store.add('companies', { properties }).id,
    company: (id: string) => hubspot.store.get('companies', id)?.properties ?? {},
    stop: () => (stopped ??= running.stop()),
    async close() {
      await (stopped ??= running.stop())
      await house.close()
      await hubspot.stop()
    },
  }
}

export type HttpHouse = Awaited<ReturnType<typeof openHttpHouse>>

export interface Answer<T = Record<string, unknown>> {
  status: number
  headers: Headers
  body: T
}

/** One request and its answer as JSON. Remembers which routes were called. */
export async function call<T = Record<string, unknown>>(
  url: string,
  options: { method?: string; token?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer<T>> {
  const { method = options.body === undefined ? 'GET' : 'POST', token, headers, body } = options
  const response = await fetch(url, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: (text === '' ? {} : JSON.parse(text)) as T,
  }
}
