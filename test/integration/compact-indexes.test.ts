import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compactIndexes } from '../../src/store/database/compact-indexes.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'

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
