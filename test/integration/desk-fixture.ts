import { randomBytes, scryptSync } from 'node:crypto'
import { deskAccess, deskConfig, type DeskConfig } from '../../src/app/config/desk.ts'
import type { Environment } from '../../src/app/config/environment.ts'
import type { DeskPorts } from '../../src/http/desk/model/ports.ts'
import type { RecordLinks } from '../../src/http/desk/model/record-links.ts'
import { defaultNetworkHosts } from '../../src/domain/keys.ts'
import { defaultPrices, stepPrices } from '../../src/domain/planning/prices.ts'
import { deskRoutes } from '../../src/http/desk/index.ts'
import { createAuditLog } from '../../src/store/access/audit.ts'
import { createSessionLedger } from '../../src/store/access/sessions.ts'
import { createSpendSwitch } from '../../src/store/ledger/spend-switch.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'

export const passwords = { vera: 'vera looks around', otto: 'otto acts on things', ada: 'ada may do it all' }
/** As the recipe `contact` needs them. */
const testCaps = { otherAtomic: 10_000n, bySlot: { 'contact.redeem:phone': 300_000n } }
const noSpend = { settledAtomic: 0n, inDoubtAtomic: 0n, lostAtomic: 0n, creditsAtomic: 0n }
export type Person = keyof typeof passwords

/** A viewer, an operator and an admin. */
export const users: DeskConfig['users'] = [
  person('vera', 'viewer'),
  person('otto', 'operator'),
  person('ada', 'admin'),
]

/** Hashed with the least cost that the desk takes: what hashing costs by default has a test of its own. */
function person(name: Person, role: 'viewer' | 'operator' | 'admin'): DeskConfig['users'][number] {
  const [N, r, p] = [2 ** 14, 1, 1]
  const salt = randomBytes(16)
  const hash = scryptSync(passwords[name], salt, 32, { N, r, p })
  const passwordHash = ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join(':')
  return { name, passwordHash, role }
}

export interface Ask {
  method?: string
  /** A form; its token is put in unless it has one. */
  form?: Record<string, string>
  headers?: Record<string, string>
  /** The address it comes from, on the wire. */
  address?: string
}

/** The desk on an empty ledger, without a network: requests go to its app, and its ports tell what was asked of them. */
export async function openBareDesk(
  options: {
    config?: Partial<DeskConfig>
    host?: string
    publicUrl?: string
    env?: Environment
    open?: boolean
    ports?: Partial<DeskPorts>
    links?: Partial<RecordLinks>
    timeoutMs?: number
    onError?: (error: unknown) => void
  } = {},
) {
  const { database, close } = await openFreshLedger()
  const { db } = database
  let nowMs = Date.parse('2026-11-20T12:00:00Z')
  const now = () => new Date(nowMs)
  const config = {
    ...deskConfig(options.env ?? {}),
    ...(options.open ? {} : { users }),
    ...options.config,
  }
  const access = deskAccess(config, options.host ?? '127.0.0.1', options.publicUrl)
  const spendSwitch = createSpendSwitch(db, { now })
  const stopping = new AbortController()
  const asked: string[] = []
  const denied: string[] = []
  const audit = createAuditLog(db, { now })
  const ports: DeskPorts = {
    syncable: () => [{ connector: 'hubspot', entities: ['companies'] }],
    plans: {
      choices: () => [
        { connector: 'hubspot', entity: 'companies', recipes: ['profile', 'full'], defaultRecipe: 'profile' },
      ],
      async make({ connector, entity, recipe, limit }) {
        asked.push(`plan ${connector} ${entity} ${recipe} ${limit}`)
        return { planId: 'p1' }
      },
      read: async () => undefined,
      async start(planId) {
        asked.push(`start ${planId}`)
        return { runId: 'r1', isNew: true }
      },
    },
    async stopSpending(reason) {
      asked.push(`stop ${reason}`)
      await spendSwitch.stop(reason)
    },
    async resumeSpending() {
      asked.push('resume')
      await spendSwitch.resume()
    },
    wallet: async () => ({ address: '0x1', balanceAtomic: 5_000_000n }),
    pace: async () => undefined,
    queues: async () => [],
    timeline: async (name) => ({
      ...name,
      tasks: [],
      lookups: [],
      fields: [],
      spend: noSpend,
      mergedFrom: [],
      mergedInto: null,
    }),
    settings: async () => [],
    reconcile: async () => ({ differences: 0, difference: '0.000000' }),
    schedules: {
      list: async () => [
        {
          name: 'nightly',
          connector: 'hubspot',
          entity: 'companies',
          when: '0 2 * * * Europe/Berlin',
          timeZone: 'Europe/Berlin',
          isPaused: false,
          nextAt: new Date('2026-11-21T01:00:00Z'),
          next: ['21', '22', '23', '24', '25'].map((day) => new Date(`2026-11-${day}T01:00:00Z`)),
          openRuns: [],
          lastRuns: [],
          failed: [],
          lastAt: undefined,
        },
      ],
      pause: async (name, by) => void asked.push(`pause ${name} by ${by}`),
      resume: async (name) => void asked.push(`resume ${name}`),
      async runNow(name) {
        const isFirst = !asked.includes(`run ${name}`)
        asked.push(`run ${name}`)
        return isFirst ? 1 : 0
      },
    },
    ...options.ports,
  }
  const app = deskRoutes({
    db,
    now,
    access,
    sessions: createSessionLedger(db, { now, idleMs: config.idleMs, lifetimeMs: config.lifetimeMs }),
    audit,
    spendSwitch,
    caps: { prices: stepPrices(defaultPrices, testCaps), dayAtomic: 100_000_000n },
    ports,
    links: {
      hosts: defaultNetworkHosts,
      recordUrl: async () => undefined,
      transactionUrl: () => undefined,
      ...options.links,
    },
    board: (mayAct) => async (context) => context.text(mayAct ? 'board to act on' : 'board to look at'),
    signal: stopping.signal,
    timeoutMs: options.timeoutMs,
    onError(error) {
      if (!options.onError) throw error
      options.onError(error)
    },
    onDenied: (kind) => void denied.push(kind),
  })

  /** A browser of its own: it keeps cookies, and sends the Origin with a change. */
  function browser(settings: { origin?: string; address?: string; headers?: Record<string, string> } = {}) {
    const origin = settings.origin ?? 'http://127.0.0.1:8080'
    const cookies = new Map<string, string>()
    let csrf = ''

    async function ask(path: string, { method, form, headers, address }: Ask = {}): Promise<Response> {
      const isChange = form !== undefined || (method !== undefined && method !== 'GET')
      const body = form && new URLSearchParams({ _csrf: csrf, ...form })
      const response = await app.request(
        `${origin}${path}`,
        {
          method: method ?? (form ? 'POST' : 'GET'),
          headers: {
            host: new URL(origin).host,
            accept: 'text/html',
            ...(isChange ? { origin } : {}),
            ...(cookies.size > 0
              ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
              : {}),
            ...(body ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
            ...settings.headers,
            ...headers,
          },
          ...(body ? { body: body.toString() } : {}),
        },
        { incoming: { socket: { remoteAddress: address ?? settings.address ?? '127.0.0.1' } } },
      )
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
        cookies.set(name, value)
      }
      if (response.headers.get('content-type')?.includes('text/html')) {
        csrf = /name="_csrf" value="([^"]+)"/.exec(await response.clone().text())?.[1] ?? csrf
      }
      return response
    }

    return {
      ask,
      cookies,
      csrf: () => csrf,
      async signIn(name: string, password: string, headers?: Record<string, string>) {
        await ask('/sign-in', headers ? { headers } : {})
        return ask('/sign-in', { form: { name, password }, ...(headers ? { headers } : {}) })
      },
    }
  }

  return {
    db,
    app,
    access,
    audit,
    asked,
    denied,
    browser,
    spendSwitch,
    later: (ms: number) => void (nowMs += ms),
    now,
    async as(name: Person) {
      const one = browser()
      const answer = await one.signIn(name, passwords[name])
      if (answer.status !== 303) throw new Error(`${name} could not sign in: ${answer.status}`)
      await one.ask('/')
      return one
    },
    async close() {
      stopping.abort()
      await close()
    },
  }
}

export type BareDesk = Awaited<ReturnType<typeof openBareDesk>>
