import { afterEach } from 'vitest'
import type { createMemoryCallBudget } from '../../src/connectors/budget.ts'
import type { Connector, RecordPatch } from '../../src/connectors/connector.ts'
import {
  createHubspotConnector,
  type HubspotConnectorOptions,
} from '../../src/connectors/hubspot/hubspot-connector.ts'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import {
  startHubspotStandIn,
  type HubspotStandIn,
  type HubspotStandInOptions,
} from '../../src/sandbox/hubspot/index.ts'
import { testSeed } from '../support/seed.ts'

const seed = testSeed()
export const noon = Date.UTC(2026, 10, 20, 12, 0, 0)
const roomy = { searchPerSecond: 100_000, perTenSeconds: 100_000 }
export const open: { connectors: Connector[]; standIns: HubspotStandIn[] } = { connectors: [], standIns: [] }

/** Closes after each test of the calling file what it has opened. */
export function closeAfterEach(): void {
  afterEach(async () => {
    for (const connector of open.connectors.splice(0)) await connector.close()
    for (const standIn of open.standIns.splice(0)) await standIn.stop()
  })
}

export async function standIn(options: HubspotStandInOptions = {}): Promise<HubspotStandIn> {
  const started = await startHubspotStandIn({ seed, companies: 10, contacts: 0, limits: roomy, ...options })
  open.standIns.push(started)
  return started
}

export type Options = Partial<Omit<HubspotConnectorOptions, 'accessToken' | 'oauth'>>

export function connect(hubspot: HubspotStandIn, options: Options & { oauth?: boolean } = {}): Connector {
  const { oauth = false, ...rest } = options
  const connector = createHubspotConnector({
    ...(oauth ? { oauth: hubspot.auth.oauth } : { accessToken: hubspot.token }),
    baseUrl: hubspot.baseUrl,
    mapping: hubspotMapping,
    limits: { searchPerSecond: 100_000 },
    ...rest,
  })
  open.connectors.push(connector)
  return connector
}

export async function ready(
  hubspot: HubspotStandIn,
  options: Parameters<typeof connect>[1] = {},
): Promise<Connector> {
  const connector = connect(hubspot, options)
  await connector.ensureFields('contacts', { dryRun: false })
  return connector
}

export function contacts(hubspot: HubspotStandIn, count: number): string[] {
  return hubspot.store.seed('contacts', { count, modifiedAtMs: noon - 86_400_000 }).map(({ id }) => id)
}

export function titled(ids: readonly string[], title = 'Pilot'): RecordPatch[] {
  return ids.map((id) => ({ id, patch: { job_title: { set: title } } }))
}

export async function thrown(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  )
}

export function budgetThatOnlyHears(heard: string[]): ReturnType<typeof createMemoryCallBudget> {
  return {
    take: async () => ({ waitMs: 0 }),
    close: async (account, limit, forMs) => void heard.push(`${account} ${limit} ${forMs}`),
    learn: async () => {},
  }
}
