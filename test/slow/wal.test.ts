import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { checkpointWhenLong } from '../../src/store/database/checkpoint.ts'
import { keepSmall } from '../../src/store/database/keep-small.ts'
import { layLedger } from '../support/ledger-template.ts'
import { freshStores } from '../support/stores.ts'

/** 8 MB a round, in segments of 16. */
async function write({ db }: OpenDatabase, round: number): Promise<void> {
  await sql`insert into meta (key, value)
    select ${`${round}/`} || n, (select string_agg(md5(${`${round}`} || n || i), '') from generate_series(1, 120) as i)
    from generate_series(1, 2000) as n`.execute(db)
  await sql`delete from meta where key like ${`${round}/%`}`.execute(db)
}

const segmentsIn = async (dataDir: string) =>
  (await readdir(join(dataDir, 'pglite/pg_wal'))).filter((name) => /^[0-9A-F]{24}$/.test(name)).length

test('the log of changes of an embedded ledger does not grow with what was written', async () => {
  const stores = await freshStores()
  const dataDir = join(stores.dataDir, 'embedded')
  await layLedger(dataDir)
  let database = await openDatabase({ dataDir })
  try {
    for (let round = 0; round < 16; round += 1) {
      await write(database, round)
      await keepSmall(database, 8_000_000)
    }
    expect(await segmentsIn(dataDir)).toBeLessThanOrEqual(4)
    await database.close()
    // And what was committed is there.
    database = await openDatabase({ dataDir })
    const { rows } = await sql<{
      left: number
    }>`select count(*)::int as left from meta where key like '%/%'`.execute(database.db)
    expect(rows).toEqual([{ left: 0 }])
  } finally {
    await database.close()
    await stores.cleanup()
  }
})

test('a checkpoint gives the room of a long log back', async () => {
  const stores = await freshStores()
  const dataDir = join(stores.dataDir, 'embedded')
  await layLedger(dataDir)
  const database = await openDatabase({ dataDir })
  try {
    for (let round = 0; round < 14; round += 1) await write(database, round)
    expect(await segmentsIn(dataDir)).toBeGreaterThan(6)
    await checkpointWhenLong(database, 8_000_000)
    // Four for the next changes and the one in use.
    expect(await segmentsIn(dataDir)).toBeLessThanOrEqual(5)
  } finally {
    await database.close()
    await stores.cleanup()
  }
})
