import { afterEach, beforeEach } from 'vitest'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { testSeed } from '../support/seed.ts'
import { type Reply, send } from './stand-in-calls.ts'

/** A fixed clock that tests move: limits, stamps and expiry then happen when told to. */
export const clock = { nowMs: 0 }
const now = (): number => clock.nowMs

export let hubspot: HubspotStandIn

type Options = NonNullable<Parameters<typeof startHubspotStandIn>[0]>

/** The records of every test, on its clock. */
export const start = (options: Options): Promise<HubspotStandIn> =>
  startHubspotStandIn({ seed: testSeed(), companies: 40, contacts: 60, now, ...options })

/** Starts a stand-in of 40 companies and 60 contacts for each test of the calling file. */
export function useHubspot(): void {
  beforeEach(async () => {
    clock.nowMs = Date.UTC(2026, 10, 20, 12, 0, 0, 123)
    hubspot = await start({ limits: { perTenSeconds: 1000 } })
  })
  afterEach(() => hubspot.stop())
}

/** Replaces the stand-in of the present test. */
export async function restart(options: Options): Promise<void> {
  await hubspot.stop()
  hubspot = await start(options)
}

export const call = (method: string, path: string, body?: unknown): Promise<Reply> =>
  send(hubspot.baseUrl, hubspot.token, method, path, body)

export const search = (type: string, body: object): Promise<Reply> =>
  call('POST', `/crm/v3/objects/${type}/search`, body)

export const update = (inputs: readonly object[], type = 'contacts'): Promise<Reply> =>
  call('POST', `/crm/objects/2026-09/${type}/batch/update`, { inputs })

export const read = (
  ids: readonly string[],
  properties: readonly string[],
  type = 'contacts',
): Promise<Reply> =>
  call('POST', `/crm/objects/2026-09/${type}/batch/read`, { inputs: ids.map((id) => ({ id })), properties })

export const firstIds = (count: number, type: 'contacts' | 'companies' = 'contacts'): string[] =>
  [...hubspot.store.list(type)].slice(0, count).map((record) => record.id)
