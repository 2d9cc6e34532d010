import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { vacuumTables } from '../../src/store/database/vacuum-tables.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let database: OpenDatabase
let close: () => Promise<void>

beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

const rows = 4_000

async function fill(): Promise<void> {
  await sql`insert into meta (key, value) select 'vacuum/' || n, repeat(md5(n::text), 10) from generate_series(1, ${rows}::int) as n
    on conflict (key) do nothing`.execute(database.db)
}

/** Every row gets a new version, and leaves an old one. */
async function change(): Promise<void> {
  await sql`update meta set value = value || 'x' where key like 'vacuum/%'`.execute(database.db)
}

async function bytes(): Promise<number> {
  const { rows: found } = await sql<{ bytes: number }>`
    select pg_total_relation_size('meta')::float8 as bytes`.execute(database.db)
  return found[0]?.bytes ?? 0
}

test('an embedded table does not grow with the changes of its rows', async () => {
  await fill()
  const small = await bytes()
  for (let round = 0; round < 10; round += 1) {
    await change()
    const freed = await vacuumTables(database)
    expect(freed.includes('meta')).toBe(database.kind === 'pglite')
  }
  const { rows: left } = await sql<{ left: number }>`
    select count(*)::int as left from meta where key like 'vacuum/%' and value like '%xxxxxxxxxx'`.execute(
    database.db,
  )
  expect(left).toEqual([{ left: rows }])
  // Twice the rows, and not eleven times.
  if (database.kind === 'pglite') expect(await bytes()).toBeLessThan(2.5 * small)
})

test('a table of which little is dead is left alone', async () => {
  await fill()
  await sql`delete from meta where key like 'vacuum/1%'`.execute(database.db)
  await vacuumTables(database, { dead: 1 })
  await sql`update meta set value = 'x' where key in ('vacuum/2', 'vacuum/3')`.execute(database.db)
  expect(await vacuumTables(database, { dead: 1 })).not.toContain('meta')
})

test('tables that a scan has filled are vacuumed once, and others that have only new rows are not', async () => {
  if (database.kind !== 'pglite') return
  const { run } = await openLedgerRun(database, { lookups: 0, now: () => new Date() })
  await sql`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    select ${run.id}, n, n::text, '{}', 'written', now() from generate_series(1, ${rows}::int) as n`.execute(
    database.db,
  )
  await sql`insert into meta (key, value) select 'new/' || n, 'x' from generate_series(1, ${3 * rows}::int) as n`.execute(
    database.db,
  )
  expect(await vacuumTables(database)).toEqual(['tasks'])
  expect(await vacuumTables(database)).toEqual([])
})

test('a large table is vacuumed with its pages compressed in the log', async () => {
  if (database.kind !== 'pglite') return
  const logOf = async (compressFrom: number): Promise<number> => {
    await fill()
    await change()
    await sql`checkpoint`.execute(database.db)
    const before = await logEnd()
    expect(await vacuumTables(database, { compressFrom })).toContain('meta')
    return (await logEnd()) - before
  }
  const asItIs = await logOf(Number.MAX_SAFE_INTEGER)
  expect(await logOf(0)).toBeLessThan(asItIs / 2)
  const { rows: set } = await sql<{ wal_compression: string }>`show wal_compression`.execute(database.db)
  expect(set).toEqual([{ wal_compression: 'off' }])
})

async function logEnd(): Promise<number> {
  const { rows: found } = await sql<{ bytes: number }>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`.execute(database.db)
  return found[0]?.bytes ?? 0
}
