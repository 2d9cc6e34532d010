import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { createDice } from '../../src/sandbox/random.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { migrate } from '../../src/store/database/migrating/migrate.ts'
import { migrations } from '../../src/store/database/migrating/migrations.ts'
import { compareSchema, readSchema } from '../../src/store/database/migrating/schema-state.ts'
import { testSeed } from '../support/seed.ts'
import { freshStores } from '../support/stores.ts'

const program = join(import.meta.dirname, '../support/pages-process.ts')
const before0045 = migrations.filter(({ name }) => name < '0045')

async function freshDataDir(): Promise<string> {
  const stores = await freshStores()
  onTestFinished(() => stores.cleanup())
  return join(stores.dataDir, 'embedded')
}

async function workAndKill(dataDir: string, after: number, rounds: number): Promise<number> {
  const child = spawn(process.execPath, ['--no-warnings', program, dataDir, String(after)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let told = after
  for await (const line of createInterface({ input: child.stdout })) {
    told = Number(line)
    if (told >= after + rounds) child.kill('SIGKILL')
  }
  const [, signal] = (await ended) as [number | null, string | null]
  expect(signal).toBe('SIGKILL')
  return told
}

const pagesOf = (dataDir: string) => readdir(join(dataDir, 'pglite', 'paydirt_pages')).catch(() => [])

test('what was committed is there after a kill while the pages of an embedded ledger are compressed', async () => {
  const dataDir = await freshDataDir()
  const dice = createDice(`pages ${testSeed()}`)
  let told = 0
  for (let kill = 0; kill < 3; kill += 1) {
    told = await workAndKill(dataDir, told, 4 + Math.floor(8 * dice.roll()))
    const { db, close } = await openDatabase({ dataDir })
    expect((await pagesOf(dataDir)).length).toBeGreaterThan(0)
    const by = async (how: 'enable_seqscan' | 'enable_indexscan') =>
      db.transaction().execute(async (tx) => {
        await sql`select set_config(${how}, 'off', true)`.execute(tx)
        await sql`select set_config('enable_bitmapscan', 'off', true)`.execute(tx)
        const { rows } = await sql<{ count: number; low: number; high: number; whole: boolean }>`
          select count(*)::int as count, min(split_part(value, ' ', 1)::int)::int as low,
            max(split_part(value, ' ', 1)::int)::int as high,
            bool_and(value = split_part(value, ' ', 1) || repeat(' of round ' || substr(key, 6), 60)) as whole
          from meta where key >= 'kill/' and key < 'kill0'`.execute(tx)
        return rows[0]
      })
    const found = await by('enable_seqscan')
    expect(found).toMatchObject({ count: 4000, low: found?.high, whole: true })
    expect(found?.high).toBeGreaterThanOrEqual(told)
    expect(await by('enable_indexscan')).toEqual(found)
    told = found?.high ?? 0
    await close()
  }
})

test('a table that is written anew or emptied leaves none of its pages behind', async () => {
  const dataDir = await freshDataDir()
  const { db, pages, close } = await openDatabase({ dataDir })
  await sql`insert into meta select 'row ' || n, repeat('name' || n, 100) from generate_series(1, 5000) as n`.execute(
    db,
  )
  await sql`checkpoint`.execute(db)
  expect(await pages?.settle()).toBeGreaterThan(100)
  const [before = ''] = await pagesOf(dataDir)
  const folder = join(dataDir, 'pglite', 'paydirt_pages')
  const bytes = (await stat(join(folder, before))).size
  const { rows } = await sql<{ bytes: number }>`select pg_relation_size('meta')::float8 as bytes`.execute(db)
  expect(rows[0]?.bytes).toBeGreaterThan(1_500_000)
  expect(bytes).toBeLessThan((rows[0]?.bytes ?? 0) / 4)
  await sql`vacuum full meta`.execute(db)
  await sql`checkpoint`.execute(db)
  const after = await pagesOf(dataDir)
  expect(after.length).toBeGreaterThan(0)
  expect(after).not.toContain(before)
  await sql`truncate meta`.execute(db)
  await sql`checkpoint`.execute(db)
  expect(await pagesOf(dataDir)).toEqual([])
  await close()
})

test('files stay as they were in an embedded ledger of the version before, and older programs are refused in a new one', async () => {
  const dataDir = await freshDataDir()
  const old = await openDatabase({ dataDir, migratedBy: 'caller' })
  await migrate(old.db, { isShared: false, known: before0045 })
  await old.close()
  const { db, pages, close } = await openDatabase({ dataDir })
  await sql`insert into meta select 'row ' || n, repeat('name' || n, 100) from generate_series(1, 5000) as n`.execute(
    db,
  )
  await sql`checkpoint`.execute(db)
  expect(await pages?.settle()).toBe(0)
  expect(await pagesOf(dataDir)).toEqual([])
  expect(compareSchema(await readSchema(db), before0045)).toMatchObject({ kind: 'newer' })
  await close()
  const fresh = await openDatabase({ dataDir: await freshDataDir() })
  const state = await readSchema(fresh.db)
  expect(() => compareSchema(state, before0045)).toThrow(/newer paydirt.*0045 is needed/)
  await fresh.close()
})
