import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compactIndexes } from '../../src/store/database/compact-indexes.ts'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores } from '../support/stores.ts'

let database: OpenDatabase
let close: () => Promise<void>
beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

/** In no order, so that each page is split in its middle. */
async function learn(from: number, to: number): Promise<void> {
  await sql`
    insert into subject_names (name, subject, learned_at)
    select md5(n::text) || '.example', 'profnet.com/company/' || md5(n::text), now() from generate_series(${from}::int, ${to}::int) as n
    on conflict (name) do update set learned_at = excluded.learned_at`.execute(database.db)
}

async function indexBytes(): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_indexes_size('subject_names')::float8 as bytes`.execute(database.db)
  return rows[0]!.bytes
}

test('what changed more than it holds gets new indexes, once', async () => {
  const isEmbedded = database.kind === 'pglite'
  for (let from = 10_000; from < 14_000; from += 40) await learn(from, from + 39)
  const before = await indexBytes()
  const aborted = AbortSignal.abort()
  expect(await compactIndexes(database, { signal: aborted, least: 1_000 })).toBe(0)
  expect(await compactIndexes(database, { least: 1_000_000 })).toBe(0)
  expect(await indexBytes()).toBe(before)

  const freed = await compactIndexes(database, { least: 1_000 })
  expect(before - (await indexBytes())).toBe(freed)
  if (isEmbedded) expect(freed).toBeGreaterThan(before / 6)
  else expect(freed).toBe(0)

  // The names are unique as before, and nothing is due again until as much has changed.
  await learn(10_000, 10_099)
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from subject_names`.execute(
    database.db,
  )
  expect(rows).toEqual([{ count: 4_000 }])
  expect(await compactIndexes(database, { least: 1_000 })).toBe(0)
  await database.db.deleteFrom('subject_names').execute()
  await learn(20_000, 23_999)
  const again = await compactIndexes(database, { least: 1_000 })
  expect(again > 0).toBe(isEmbedded)
})

test('a few new rows are not worth the indexes of many, whose changes nobody has counted', async () => {
  const stores = await freshStores()
  const dataDir = join(stores.dataDir, 'data')
  await layLedger(dataDir)
  const open = async () => void (database = await openDatabase({ dataDir }))
  const usual = database
  try {
    await open()
    await learn(1, 4_000)
    await sql`analyze subject_names`.execute(database.db)
    await database.close()
    await open()
    await learn(5_001, 6_500)
    expect(await compactIndexes(database, { least: 1_000 })).toBe(0)
    await learn(7_001, 13_000)
    expect(await compactIndexes(database, { least: 1_000 })).toBeGreaterThan(0)
  } finally {
    await database.close()
    await stores.cleanup()
    database = usual
  }
})
