import { afterEach, beforeEach } from 'vitest'
import { startSalesforceStandIn, type SalesforceStandIn } from '../../src/sandbox/salesforce/index.ts'
import { testSeed } from '../support/seed.ts'
import { type Reply, send } from './stand-in-calls.ts'

/** A fixed clock that tests move: limits, stamps and expiry then happen when told to. */
export const clock = { nowMs: 0 }
const now = (): number => clock.nowMs

export let salesforce: SalesforceStandIn
export const data = '/services/data/v68.0'

/** The org of every test, on its clock. */
export const start = (): Promise<SalesforceStandIn> =>
  startSalesforceStandIn({ seed: testSeed(), accounts: 40, contacts: 60, leads: 20, now })

/** Starts an org of 40 accounts, 60 contacts and 20 leads for each test of the calling file. */
export function useSalesforce(): void {
  beforeEach(async () => {
    clock.nowMs = Date.UTC(2026, 10, 20, 12, 0, 0, 123)
    salesforce = await start()
  })
  afterEach(() => salesforce.stop())
}

export const call = (method: string, path: string, body?: unknown, headers = {}): Promise<Reply> =>
  send(salesforce.baseUrl, salesforce.token, method, path, body, headers)

export const query = (soql: string): Promise<Reply> =>
  call('GET', `${data}/query?q=${encodeURIComponent(soql)}`)

export const update = (type: string, records: readonly object[], more = {}, headers = {}): Promise<Reply> =>
  call(
    'PATCH',
    `${data}/composite/sobjects`,
    { allOrNone: false, records: records.map((record) => ({ attributes: { type }, ...record })), ...more },
    headers,
  )

export const firstIds = (type: 'Account' | 'Contact' | 'Lead', count: number): string[] =>
  [...salesforce.store.list(type)].slice(0, count).map((record) => record.id)

export const idsOf = (reply: Reply): string[] => reply.body.records.map((record: { Id: string }) => record.Id)
