import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/store/database/database.ts'
import { freshStores } from '../support/stores.ts'

async function closedLedger(): Promise<{ dataDir: string; folder: string; names: string[] }> {
  const stores = await freshStores()
  onTestFinished(() => stores.cleanup())
  const dataDir = join(stores.dataDir, 'embedded')
  const { db, pages, close } = await openDatabase({ dataDir })
  await sql`insert into meta select 'row ' || n, repeat('name' || n, 100) from generate_series(1, 5000) as n`.execute(
    db,
  )
  await sql`checkpoint`.execute(db)
  expect(await pages?.settle()).toBeGreaterThan(100)
  await close()
  const folder = join(dataDir, 'pglite', 'paydirt_pages')
  return { dataDir, folder, names: await readdir(folder) }
}

/** Reads the table itself, whatever its indexes know. */
async function readAll(dataDir: string) {
  const { db, close } = await openDatabase({ dataDir })
  try {
    return await sql`select count(*), sum(length(value)) from meta where key like 'row %'`.execute(db)
  } finally {
    await close()
  }
}

test('a damaged page is an error of the disk, and never other rows', async () => {
  const { dataDir, folder, names } = await closedLedger()
  const path = join(folder, names[0] ?? '')
  const good = await readFile(path)
  const chunk = good.readUInt32LE(512) * 512
  for (const page of [0, 7]) {
    const bad = Buffer.from(good)
    const at = (good.readUInt32LE(chunk + page * 4) >>> 5) * 512 + 40
    bad[at] = (bad[at] ?? 0) ^ 1
    await writeFile(path, bad)
    await expect(readAll(dataDir)).rejects.toThrow(/could not read blocks? .*I\/O error/)
  }
  await writeFile(path, good)
  expect((await readAll(dataDir)).rows).toEqual([{ count: 5000n, sum: expect.anything() as unknown }])
})

test('a ledger whose folder of pages is missing is refused, and not taken for empty', async () => {
  const { dataDir, folder } = await closedLedger()
  await rm(folder, { recursive: true })
  await expect(readAll(dataDir)).rejects.toThrow(/I\/O error/)
})
