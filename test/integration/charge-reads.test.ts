import { CompiledQuery, type LogEvent } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let database: OpenDatabase
let close: () => Promise<void>
const asked: LogEvent[] = []

beforeAll(
  async () =>
    void ({ database, close } = await openFreshLedger({ onQuery: (event) => void asked.push(event) })),
)
afterAll(() => close())

test('what a purchase asks of earlier charges is served by indexes, however many there are', async () => {
  const { journal, keys, run } = await openLedgerRun(database, { lookups: 1, now: () => new Date() })
  const [key] = keys as [LookupKey]
  asked.length = 0
  await journal.unanswered(key)
  const charge = {
    lookupKey: key,
    operation: 'company.profile' as const,
    runId: run.id,
    connector: 'csv',
    endpoint: '',
    url: '',
    body: '',
    amountAtomic: 1n,
    budget: [{ scope: 'run:none', capAtomic: 10n }],
    draw: () => {
      throw new Error('not drawn')
    },
  }
  await expect(journal.reserve(charge)).rejects.toThrow(/not drawn/)
  const reads = asked.map(({ query }) => query).filter(({ sql }) => /\bfrom "?charges/.test(sql))
  expect(reads.length).toBeGreaterThanOrEqual(2)
  await database.db.connection().execute(async (one) => {
    // A scan of a small table is cheaper than an index; where it stands all the same there is no other way.
    await one.executeQuery(CompiledQuery.raw('set enable_seqscan = off'))
    for (const { sql, parameters } of reads) {
      const { rows } = await one.executeQuery<Record<string, string>>(
        CompiledQuery.raw(`explain ${sql}`, [...parameters]),
      )
      const plan = rows.map((row) => Object.values(row)[0]).join('\n')
      expect(plan).toMatch(/Index (Only )?Scan.* on charges|Bitmap Heap Scan on charges/)
      expect(plan).not.toContain('Seq Scan on charges')
    }
    await one.executeQuery(CompiledQuery.raw('reset enable_seqscan'))
  })
})
