import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createMonitorDeliveries } from '../../src/store/messages/monitor-deliveries.ts'
import { createLogReads } from '../../src/store/monitors/log-reads.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'

const now = () => new Date('2026-11-20T12:00:00Z')
const known = 5_000
const monitor = 'dach'

let database: OpenDatabase
let close: () => Promise<void>
beforeEach(async () => {
  ;({ database, close } = await openFreshLedger())
  await sql`
    insert into monitor_seen (monitor, meaning, digest, company, seen_at)
    select ${monitor}, 'id:' || number, number::text, 'a.example', ${now()}
    from generate_series(1, ${known}::int) as number`.execute(database.db)
  await sql`
    insert into monitor_log_entries (monitor_id, entry_id, found, read_at)
    select ${monitor}, 'entry ' || number, 'received', ${now()}
    from generate_series(1, ${known}::int) as number`.execute(database.db)
})
afterEach(() => close())

/** Returns the rows and index entries of a table that statements have read so far, as the database counts them. */
async function readOf(table: 'monitor_seen' | 'monitor_log_entries'): Promise<number> {
  await sql`select pg_stat_force_next_flush()`.execute(database.db)
  const { rows } = await sql<{ read: number }>`
    select (seq_tup_read + (
      select sum(idx_tup_read) from pg_stat_user_indexes where relid = tables.relid
    ))::float8 as read from pg_stat_user_tables as tables where relname = ${table}`.execute(database.db)
  return rows[0]?.read ?? Number.NaN
}

test('a delivery is admitted without reading what its monitor brought before', async () => {
  const deliveries = createMonitorDeliveries(database.db, { now })
  const before = await readOf('monitor_seen')
  const meanings = ['id:1', 'id:new', 'text:new']
  const fresh = await deliveries.admit('digest', {
    monitor,
    triggeredAt: null,
    isLate: false,
    signals: meanings.map((meaning) => ({ meaning, company: null })),
  })
  expect([...fresh].toSorted()).toEqual(['id:new', 'text:new'])
  expect((await readOf('monitor_seen')) - before).toBeLessThan(20)
})

test('an entry of the log is compared without reading those that were compared before', async () => {
  const reads = createLogReads(database.db, { now })
  const before = [await readOf('monitor_seen'), await readOf('monitor_log_entries')] as const
  const entry = { detectedAt: now(), isTest: false, digest: 'd', body: '{}' }
  const compared = await reads.compare(
    { name: monitor, monitorId: monitor },
    [
      { ...entry, id: 'entry 1', meanings: ['id:1'] },
      { ...entry, id: 'entry new', meanings: ['id:2', 'id:3'] },
    ],
    { isPlan: true },
  )
  expect(compared).toEqual({ received: 1, missing: 0, test: 0, noCompany: 0 })
  expect((await readOf('monitor_seen')) - before[0]).toBeLessThan(20)
  expect((await readOf('monitor_log_entries')) - before[1]).toBeLessThan(20)
})
