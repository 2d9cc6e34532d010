import {
  createSalesforceConnector,
  type SalesforceOptions,
} from '../../src/connectors/salesforce/salesforce-connector.ts'
import type { Connector, ScanOptions, ScanPage, WriteResult } from '../../src/connectors/connector.ts'
import {
  startSalesforceStandIn,
  type SalesforceStandIn,
  type SalesforceStandInOptions,
} from '../../src/sandbox/salesforce/index.ts'
import { testSeed } from '../support/seed.ts'

type SalesforceType = 'Account' | 'Contact' | 'Lead'

/** One org and one connector to it, on one clock that moves when told to, and with every pause. */
export interface SalesforceBench {
  org: SalesforceStandIn
  clock: { nowMs: number }
  /** The pauses that the connector took, in milliseconds. */
  pauses: number[]
  connect(options?: Partial<SalesforceOptions>): Connector
  ids(type: SalesforceType, count: number): string[]
  requests(path: RegExp): number
  stop(): Promise<void>
}

export async function openSalesforceBench(options: SalesforceStandInOptions = {}): Promise<SalesforceBench> {
  const clock = { nowMs: Date.UTC(2026, 10, 20, 12, 0, 0, 123) }
  const now = (): number => clock.nowMs
  const org = await startSalesforceStandIn({
    seed: testSeed(),
    accounts: 40,
    contacts: 60,
    leads: 20,
    now,
    ...options,
  })
  const pauses: number[] = []
  const open: Connector[] = []
  return {
    org,
    clock,
    pauses,
    connect(more = {}) {
      const { clientId, clientSecret } = org.auth
      const connector = createSalesforceConnector({
        loginUrl: org.baseUrl,
        auth: { kind: 'client_credentials', clientId, clientSecret },
        timeoutMs: 10_000,
        now,
        random: () => 0.5,
        wait: async (ms) => {
          pauses.push(ms)
          clock.nowMs += ms
        },
        ...more,
      })
      open.push(connector)
      return connector
    },
    ids: (type, count) => [...org.store.list(type)].slice(0, count).map(({ id }) => id),
    requests: (path) =>
      Object.entries(org.stats().byPath)
        .filter(([key]) => path.test(key))
        .reduce((sum, [, count]) => sum + count, 0),
    async stop() {
      for (const connector of open) await connector.close()
      await org.stop()
    },
  }
}

export async function scanAll(
  connector: Connector,
  entity: string,
  options: ScanOptions = {},
): Promise<{ ids: string[]; pages: ScanPage[]; watermark: string | undefined }> {
  const pages: ScanPage[] = []
  for await (const page of connector.scan(entity, options)) pages.push(page)
  return {
    pages,
    ids: pages.flatMap(({ records }) => records.map(({ id }) => id)),
    watermark: pages.at(-1)?.watermark,
  }
}

export function statuses(results: readonly WriteResult[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status } of results) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
