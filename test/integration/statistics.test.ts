import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createStatistics } from '../../src/store/database/analyse-tables.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let database: OpenDatabase
let close: () => Promise<void>

beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

/** Returns the number of tasks that the planner assumes; -1: it has never looked. */
async function believed(): Promise<number> {
  const { rows } = await sql<{ tuples: number }>`
    select reltuples::float8 as tuples from pg_class where oid = 'tasks'::regclass`.execute(database.db)
  return rows[0]?.tuples ?? 0
}

test('a table that fills is looked at each time that it has doubled, and not in between', async () => {
  const { db } = database
  const now = () => new Date('2026-05-05T05:05:05Z')
  const { run } = await openLedgerRun(database, { lookups: 0, now })
  let ordinal = 0
  async function fill(count: number): Promise<void> {
    await sql`
      insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
      select ${run.id}, number, number::text, '{"name":"a company of some length"}', 'written', ${now()}
      from generate_series(${ordinal + 1}::int, ${ordinal + count}::int) as number`.execute(db)
    ordinal += count
  }
  const statistics = createStatistics(db)
  await fill(50)
  await statistics.refresh()
  const small = await believed()
  expect(small).toBeLessThan(100)
  await fill(5_000)
  await statistics.refresh()
  expect(await believed()).toBeCloseTo(5_050, -3)
  await fill(1_000)
  await statistics.refresh()
  expect(await believed()).toBeLessThan(5_900)
  await fill(6_000)
  await statistics.refresh()
  expect(await believed()).toBeGreaterThan(10_000)
})
