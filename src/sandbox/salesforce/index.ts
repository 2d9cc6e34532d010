import { Hono } from 'hono'
import { createPages } from '../crm/browse.ts'
import { createChangeLog } from '../crm/change-log.ts'
import { knownCompanies, type KnownCompany } from '../crm/known-companies.ts'
import { serveStandIn } from '../crm/serve.ts'
import { defaultPaydirtUrl, type CrmStandIn, type CrmStandInOptions } from '../crm/stand-in.ts'
import { ORG_ID, createAuth, type SalesforceAuth, type SalesforceSecrets } from './auth.ts'
import { createSalesforceBook } from './book.ts'
import { resourceNotFound } from './errors.ts'
import { createSalesforceFaults, type SalesforceFaults } from './faults.ts'
import {
  answerError,
  createGate,
  versions,
  type Quota,
  type SalesforceEnv,
  type SalesforceStats,
} from './gate.ts'
import { API_USER_ID } from './ids.ts'
import { createRowLocks } from './locks.ts'
import { compositeRoutes } from './making/routes-composite.ts'
import { makingRoutes } from './making/routes-making.ts'
import { bulkRoutes } from './routes-bulk.ts'
import { queryRoutes } from './routes-query.ts'
import { recordRoutes } from './routes-records.ts'
import type { OrgFeatures, SalesforceType } from './schema.ts'
import { seedRecords, type SeedOptions } from './seed.ts'
import { createSalesforceStore, type SalesforceRecord, type SalesforceStore } from './store.ts'

export interface SalesforceStandInOptions extends OrgFeatures {
  /** Seed of the generated records. Default 1. */
  readonly seed?: number
  /** Number of records at the start. Default 500 of each; 0 for an empty org. */
  readonly accounts?: number
  readonly contacts?: number
  readonly leads?: number
  /** Companies of the service's world beside them. Default: none. */
  readonly known?: readonly KnownCompany[]
  /** API requests per day. Default 100,000. */
  readonly dailyApiRequests?: number
  /** Lifetime of a session after its last use. Default two hours. */
  readonly sessionLifetimeMs?: number
  /** Rows in one page of a bulk query's results. Default 50,000. */
  readonly bulkPageRows?: number
  /** Returns milliseconds since the epoch, for stamps and sessions. */
  readonly now?: () => number
  /** Port on the loopback. 0, the default, takes a free one. */
  readonly port?: number
  /** Keeps the records in this file from one start to the next. */
  readonly stateFile?: string | undefined
  readonly secrets?: SalesforceSecrets
  /** Shows the records on pages under `/_sandbox/`, whose buttons call Paydirt there. Default: no pages. */
  readonly pages?: { readonly paydirtUrl: () => string; readonly secret: string }
}

export interface SalesforceStandIn {
  /** My Domain and instance URL in one. */
  readonly baseUrl: string
  /** The address that all orgs share, like login.salesforce.com: tokens for servers are not issued there. */
  readonly sharedLoginUrl: string
  readonly orgId: string
  /** A session that is open from the start. */
  readonly token: string
  readonly auth: SalesforceAuth
  readonly store: SalesforceStore & {
    seed(type: SalesforceType, options: Pick<SeedOptions, 'count' | 'modstampMs'>): SalesforceRecord[]
  }
  readonly faults: SalesforceFaults
  readonly quota: Quota
  stats(): SalesforceStats
  stop(): Promise<void>
}

/** Starts an org of its own on a free loopback port. It answers the real API's paths and no others. */
export async function startSalesforceStandIn(
  options: SalesforceStandInOptions = {},
): Promise<SalesforceStandIn> {
  const now = options.now ?? Date.now
  const seed = options.seed ?? 1
  const changes = options.pages && createChangeLog(now)
  const store = createSalesforceStore(now, options, changes?.note)
  const faults = createSalesforceFaults()
  const auth = createAuth(now, options.sessionLifetimeMs ?? 2 * 3_600_000, options.secrets)
  const quota: Quota = { limit: options.dailyApiRequests ?? 100_000, used: 0 }
  const addSeeded = (
    type: SalesforceType,
    wanted: Pick<SeedOptions, 'count' | 'modstampMs'>,
  ): SalesforceRecord[] => seedRecords(store, type, { ...wanted, seed, nowMs: now() })
  addSeeded('Account', { count: options.accounts ?? 500 })
  addSeeded('Contact', { count: options.contacts ?? 500 })
  addSeeded('Lead', { count: options.leads ?? 500 })
  for (const { name, website, profileUrl } of options.known ?? [])
    store.add('Account', {
      fields: {
        Name: name,
        ...(website && { Website: website }),
        ...(profileUrl && { Profnet_URL__c: profileUrl }),
      },
    })

  const deps = { store, faults, locks: createRowLocks() }
  const gate = createGate(auth, quota, faults)
  const app = new Hono<SalesforceEnv>()
  app.use('*', gate.middleware)
  app.onError(answerError)
  app.notFound((c) => answerError(resourceNotFound(), c))

  app.post('/services/oauth2/token', async (c) => {
    const form = new URLSearchParams(await c.req.text())
    return c.json(auth.issue(form, c.req.header('authorization'), new URL(c.req.url).origin))
  })
  app.get('/services/oauth2/userinfo', (c) => {
    try {
      auth.check(c.req.header('authorization'))
    } catch {
      return c.text('Bad_OAuth_Token', 403)
    }
    const origin = new URL(c.req.url).origin
    return c.json({
      sub: `${origin}/id/${ORG_ID}/${API_USER_ID}`,
      user_id: API_USER_ID,
      organization_id: ORG_ID,
      preferred_username: auth.username,
      name: 'Enrichment Integration',
      email: auth.username,
      active: true,
      user_type: 'STANDARD',
      language: 'en_US',
      locale: 'en_US',
      utcOffset: 0,
      updated_at: new Date(now()).toISOString(),
    })
  })
  for (const path of ['/services/data', '/services/data/']) app.get(path, (c) => c.json(versions()))
  app.get('/services/data/:version', (c) => {
    const base = c.req.path.replace(/\/$/, '')
    return c.json({
      identity: `${new URL(c.req.url).origin}/id/${ORG_ID}/${API_USER_ID}`,
      query: `${base}/query`,
      queryAll: `${base}/queryAll`,
      sobjects: `${base}/sobjects`,
      composite: `${base}/composite`,
      limits: `${base}/limits`,
      jobs: `${base}/jobs`,
    })
  })
  // A subrequest of a composite call is not counted as one of its own, and bears no session.
  const data = new Hono<SalesforceEnv>()
  data.onError(answerError)
  data.notFound((c) => answerError(resourceNotFound(), c))
  data.route('/services/data/:version', queryRoutes(store))
  data.route('/services/data/:version', recordRoutes(deps, quota, now))
  data.route('/services/data/:version', makingRoutes(deps))
  app.route(
    '/services/data/:version',
    compositeRoutes((request) => data.fetch(request)),
  )
  app.route('/', data)
  app.route('/services/data/:version', bulkRoutes(deps, API_USER_ID, now, options.bulkPageRows ?? 50_000))
  const pages =
    options.pages && changes && createPages(createSalesforceBook({ store, changes, now, ...options.pages }))
  const server = await serveStandIn({
    app,
    pages,
    changes,
    state: store.state(),
    stateFile: options.stateFile,
    port: options.port,
  })

  return {
    baseUrl: server.baseUrl,
    sharedLoginUrl: server.baseUrl.replace('127.0.0.1', 'localhost'),
    orgId: ORG_ID,
    token: auth.newSession(),
    auth,
    store: { ...store, seed: addSeeded },
    faults,
    quota,
    stats: gate.stats,
    stop: server.stop,
  }
}

/** For play on this machine: known to everyone, and the same at each start, so that a `.env` stays right. */
const playSecrets = {
  clientId: `3MVG9${'5a4db0e5'.repeat(6)}`,
  clientSecret: '5A4DB0E5'.repeat(8),
  buttons: '5a4db0e5'.repeat(4),
}

export async function startCrm(options: CrmStandInOptions = {}): Promise<CrmStandIn> {
  const { port = 0, records = 500, known = 0, paydirtUrl = defaultPaydirtUrl, stateFile } = options
  const { baseUrl, store, stop } = await startSalesforceStandIn({
    port,
    accounts: records,
    contacts: records,
    leads: records,
    known: knownCompanies(known),
    secrets: playSecrets,
    stateFile,
    pages: { paydirtUrl: () => paydirtUrl, secret: playSecrets.buttons },
  })
  // As docs/salesforce.md says: without it, records that belong to others could not be taken back.
  for (const type of ['Account', 'Contact', 'Lead'] as const) store.access.modifyAll.add(type)
  const environment = {
    SALESFORCE_LOGIN_URL: baseUrl,
    SALESFORCE_CLIENT_ID: playSecrets.clientId,
    SALESFORCE_CLIENT_SECRET: playSecrets.clientSecret,
    PAYDIRT_SALESFORCE_SECRET: playSecrets.buttons,
  }
  return { environment, pageUrl: `${baseUrl}/_sandbox/`, stop }
}
