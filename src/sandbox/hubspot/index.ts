import { Hono } from 'hono'
import { ALL_SCOPES, createAuth, type HubspotAuth, type HubspotSecrets } from './auth.ts'
import { createHubspotBook } from './book.ts'
import { createHubspotFaults, type HubspotFaults } from './faults.ts'
import { answerError, createGate, type HubspotEnv, type HubspotStats } from './gate.ts'
import { REAL_LIMITS, createLimiter, type HubspotLimits, type Limiter } from './limits.ts'
import { createPages } from '../crm/browse.ts'
import { knownCompanies, type KnownCompany } from '../crm/known-companies.ts'
import { createChangeLog } from '../crm/change-log.ts'
import { serveStandIn } from '../crm/serve.ts'
import { defaultPaydirtUrl, type CrmStandIn, type CrmStandInOptions } from '../crm/stand-in.ts'
import type { HubspotType } from './properties.ts'
import { ownerRoutes } from './making/owners.ts'
import { accountRoutes } from './routes-account.ts'
import { associationRoutes, recordAssociationRoutes } from './routes-associations.ts'
import { automationRoutes, type HubspotWorkflows } from './routes-automation.ts'
import { noteRoutes } from './noting/routes.ts'
import { objectRoutes } from './routes-objects.ts'
import { propertyRoutes, validationRoutes } from './routes-properties.ts'
import { seedRecords, type SeedOptions } from './seed.ts'
import { createHubspotStore, type HubspotRecord, type HubspotStore } from './store.ts'

export interface HubspotStandInOptions {
  /** Seed of the generated records. Default 1. */
  readonly seed?: number
  /** Number of records at the start. Default 500 of each; 0 for an empty account. */
  readonly companies?: number
  readonly contacts?: number
  /** Companies of the service's world beside them. Default: none. */
  readonly known?: readonly KnownCompany[]
  /** Raised limits for a load test. Default: the real ones. */
  readonly limits?: Partial<HubspotLimits>
  readonly scopes?: readonly string[]
  /** Returns milliseconds since the epoch, for stamps, limits and token expiry. */
  readonly now?: () => number
  /** Port on the loopback. 0, the default, takes a free one. */
  readonly port?: number
  /** Keeps the records in this file from one start to the next. */
  readonly stateFile?: string | undefined
  readonly secrets?: HubspotSecrets
  /** Shows the records on pages under `/_sandbox/`, whose buttons call Paydirt there. Default: no pages. */
  readonly pages?: { readonly paydirtUrl: () => string }
}

export interface HubspotStandIn {
  readonly baseUrl: string
  readonly portalId: number
  /** The private app's token. */
  readonly token: string
  readonly auth: HubspotAuth
  readonly store: HubspotStore & {
    seed(type: HubspotType, options: Pick<SeedOptions, 'count' | 'modifiedAtMs'>): HubspotRecord[]
  }
  readonly faults: HubspotFaults
  readonly workflows: HubspotWorkflows
  readonly limiter: Pick<Limiter, 'usedToday' | 'setUsedToday'>
  stats(): HubspotStats
  stop(): Promise<void>
}

const VERSIONS = ['2026-03', '2026-09'] as const
const PORTAL_ID = 62_515

/** Starts an account of its own on a free loopback port. It answers the real API's paths and no others. */
export async function startHubspotStandIn(options: HubspotStandInOptions = {}): Promise<HubspotStandIn> {
  const now = options.now ?? Date.now
  const limits = { ...REAL_LIMITS, ...options.limits }
  const faults = createHubspotFaults()
  const auth = createAuth(now, options.scopes ?? ALL_SCOPES, options.secrets)
  const limiter = createLimiter(limits, now)
  const changes = options.pages && createChangeLog(now)
  const store = createHubspotStore(now, () => faults.indexLagMs, changes?.note)
  const seed = options.seed ?? 1
  const addSeeded = (
    type: HubspotType,
    wanted: Pick<SeedOptions, 'count' | 'modifiedAtMs'>,
  ): HubspotRecord[] => seedRecords(store, type, { ...wanted, seed, nowMs: now() })
  addSeeded('companies', { count: options.companies ?? 500 })
  addSeeded('contacts', { count: options.contacts ?? 500 })
  for (const { name, website, profileUrl } of options.known ?? [])
    store.add('companies', {
      properties: { name, ...(website && { website }), ...(profileUrl && { profnet_url: profileUrl }) },
    })

  const gate = createGate(auth, limiter, faults)
  const app = new Hono<HubspotEnv>()
  app.use('*', gate.middleware)
  app.onError(answerError)
  const notes = noteRoutes({ store, auth, faults, portalId: PORTAL_ID, now })
  const objects = objectRoutes({ store, auth, faults, portalId: PORTAL_ID, now })
  const properties = propertyRoutes(store, auth, now)
  const associations = associationRoutes(store, auth, now)
  for (const version of ['v3', ...VERSIONS])
    app.route(`/crm/owners/${version}`, ownerRoutes(store.owners, auth, now))
  app.route('/crm/v4/objects', recordAssociationRoutes(store, auth))
  app.route('/crm/v3/objects', notes)
  app.route('/crm/v3/objects', objects)
  app.route('/crm/v3/properties', properties)
  app.route('/crm/v4/associations', associations)
  for (const version of VERSIONS) {
    app.route(`/crm/objects/${version}`, notes)
    app.route(`/crm/objects/${version}`, objects)
    app.route(`/crm/properties/${version}`, properties)
    app.route(`/crm/associations/${version}`, associations)
  }
  app.route('/crm/property-validations/2026-09', validationRoutes(faults, auth))
  const automation = automationRoutes(auth)
  app.route('/', automation.app)
  app.route('/', accountRoutes(auth, limiter, limits, PORTAL_ID, now))
  const pages =
    options.pages &&
    changes &&
    createPages(
      createHubspotBook({
        store,
        faults,
        changes,
        now,
        clientSecret: auth.oauth.clientSecret,
        paydirtUrl: options.pages.paydirtUrl,
      }),
    )
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
    portalId: PORTAL_ID,
    token: auth.accessToken,
    auth,
    store: { ...store, seed: addSeeded },
    faults,
    workflows: automation.workflows,
    limiter,
    stats: gate.stats,
    stop: server.stop,
  }
}

/** For play on this machine: known to everyone, and the same at each start, so that a `.env` stays right. */
const playSecrets: HubspotSecrets = {
  accessToken: 'pat-na1-5a4db0e5-a4db-40e5-a4db-0e5a4db0e5a4',
  clientSecret: '5a4db0e5-a4db-40e5-a4db-5ec2e75a4db0',
}

export async function startCrm(options: CrmStandInOptions = {}): Promise<CrmStandIn> {
  const { port = 0, records = 500, known = 0, paydirtUrl = defaultPaydirtUrl, stateFile } = options
  const { baseUrl, faults, stop } = await startHubspotStandIn({
    port,
    companies: records,
    contacts: records,
    known: knownCompanies(known),
    secrets: playSecrets,
    stateFile,
    pages: { paydirtUrl: () => paydirtUrl },
  })
  // The sandbox's service invents addresses under the reserved domain `example`, which HubSpot itself refuses.
  faults.acceptedTlds.add('example')
  const environment = {
    HUBSPOT_BASE_URL: baseUrl,
    HUBSPOT_ACCESS_TOKEN: playSecrets.accessToken,
    HUBSPOT_CLIENT_SECRET: playSecrets.clientSecret,
  }
  return { environment, pageUrl: `${baseUrl}/_sandbox/`, stop }
}
