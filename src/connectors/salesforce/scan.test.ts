import { expect, test } from 'vitest'
import type { EntityMapping } from '../../domain/mapping/mapping.ts'
import type { ScanPage } from '../connector.ts'
import type { Row } from './api/answers.ts'
import type { ApiCall, SalesforceClient } from './api/client.ts'
import { scanPages, type ScanDeps } from './scan.ts'
import type { SalesforceField } from './api/schema-cache.ts'

const stamp = '2026-11-20T11:59:59.000+0000'
const id = (at: number): string => `003Wx000000000${at}IAA`
const mapping: EntityMapping = { object: 'person', fields: {}, identity: { email: ['Email', 'Gone__c'] } }

/** Returns the given pages one after another, and keeps the queries. */
function answering(pages: { done: boolean; records: Row[] }[], queries: string[]): ScanDeps {
  const call = async (_: unknown, { query }: ApiCall): Promise<unknown> => {
    queries.push(query?.['q'] ?? '')
    return pages.shift() ?? { done: true, records: [] }
  }
  const email = { name: 'Email', type: 'email' } as SalesforceField
  return {
    client: { call } as unknown as SalesforceClient,
    schema: {
      describe: async () => ({
        name: 'Contact',
        keyPrefix: '003',
        updateable: true,
        createable: true,
        children: new Map(),
        fields: new Map([['Email', email]]),
      }),
      forget: () => {},
    },
    own: { status: 'S__c', enrichedAt: 'E__c', source: 'O__c' },
    now: () => Date.UTC(2026, 10, 20, 12, 0, 0, 123),
    lookbackMs: 60_000,
    pageSize: 2,
    bulkScanThreshold: Infinity,
  }
}

async function walk(deps: ScanDeps): Promise<ScanPage[]> {
  const pages: ScanPage[] = []
  for await (const page of scanPages(deps, 'Contact', mapping, {})) pages.push(page)
  return pages
}

test('each query starts after the last record, by stamp and id, and asks only for needed fields', async () => {
  const queries: string[] = []
  const rows = [1, 2, 3].map((at): Row => ({
    Id: id(at),
    SystemModstamp: stamp,
    Email: `${at}@norvik.example`,
  }))
  const pages = [
    { done: true, records: rows.slice(0, 2) },
    { done: true, records: rows.slice(2) },
  ]
  await walk(answering(pages, queries))
  const start = 'SELECT Id, SystemModstamp, Email FROM Contact WHERE '
  const end = 'SystemModstamp < 2026-11-20T12:00:01.000Z ORDER BY SystemModstamp, Id LIMIT 2'
  const at = '2026-11-20T11:59:59.000Z'
  expect(queries).toEqual([
    `${start}${end}`,
    `${start}(SystemModstamp > ${at} OR (SystemModstamp = ${at} AND Id > '${id(2)}')) AND ${end}`,
  ])
})

test('an answer that is cut for its size is not the last one', async () => {
  const queries: string[] = []
  const pages = [{ done: false, records: [{ Id: id(1), SystemModstamp: stamp }] }]
  const walked = await walk(answering(pages, queries))
  expect(queries).toHaveLength(2)
  expect(walked.map(({ records }) => records.length)).toEqual([1, 0])
})
