import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { BudgetExhaustedError } from '../../src/domain/errors.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { isEmbedded } from '../../src/store/database/embedded.ts'
import { inOneTransaction, inOneTrip } from '../../src/store/database/postgres/one-trip.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'

let database: OpenDatabase
let close: () => Promise<void>
beforeAll(async () => {
  ;({ database, close } = await openFreshLedger())
  await sql`create table trips (name text primary key)`.execute(database.db)
})
afterAll(async () => {
  await sql`drop table trips`.execute(database.db)
  await close()
})
beforeEach(async () => {
  await sql`delete from trips`.execute(database.db)
})

const insert = (name: string) => sql`insert into trips values (${name})`
const count = sql<{ rows: number }>`select count(*)::int as rows from trips`
const fails = sql`select 1 / (count(*) - count(*)) from trips`
const names = async () => {
  const { rows } = await sql<{ name: string }>`select name from trips order by name`.execute(database.db)
  return rows.map(({ name }) => name)
}

describe('statements in one trip', () => {
  test('are carried out in their order, each with what those before it have done', async () => {
    const [, before, , after] = await inOneTrip<[unknown, { rows: number }, unknown, { rows: number }]>(
      database.db,
      insert('a'),
      count,
      insert('b'),
      count,
    )
    expect([before.rows[0]?.rows, after.rows[0]?.rows]).toEqual([1, 2])
  })

  test('commit one by one where there is no transaction, and the error is the first', async () => {
    const done = inOneTrip(database.db, insert('a'), fails, insert('a'), insert('b'))
    await expect(done).rejects.toMatchObject({ code: '22012' })
    expect(await names()).toEqual(['a', 'b'])
  })

  test('end their transaction together with the first that fails, and its error is told', async () => {
    const done = database.db.transaction().execute((tx) => inOneTrip(tx, insert('a'), fails, insert('b')))
    await expect(done).rejects.toMatchObject({ code: '22012' })
    expect(await names()).toEqual([])
    // The connections are of use.
    await Promise.all(Array.from({ length: 12 }, () => count.execute(database.db)))
  })

  test('leave nothing open in a transaction without a statement', async () => {
    await database.db.transaction().execute(async () => {})
    await insert('a').execute(database.db)
    expect(await names()).toEqual(['a'])
  })
})

describe('a transaction that ends with its last statements', () => {
  test('is committed, and nothing further is sent for it', async () => {
    const sent = vi.spyOn(pg.Client.prototype, 'query')
    onTestFinished(() => sent.mockRestore())
    await inOneTransaction(database.db, async (tx, ending) => {
      await inOneTrip(tx, insert('a'), ...ending)
    })
    const commits = sent.mock.calls.filter(([text]) => (text as unknown) === 'commit')
    expect(commits).toHaveLength(isEmbedded(database.db) ? 0 : 1)
    // Were the connection still in a transaction, others would not see what follows.
    await Promise.all(Array.from({ length: 12 }, (_, n) => insert(`b${n}`).execute(database.db)))
    expect(await names()).toHaveLength(13)
    const { rows } = await sql`select pid from pg_stat_activity
      where datname = current_database() and state = 'idle in transaction'`.execute(database.db)
    expect(rows).toEqual([])
  })

  test('commits nothing behind a statement that fails, and is tried once more in the usual way', async () => {
    const endings: number[] = []
    const done = inOneTransaction(database.db, async (tx, ending) => {
      endings.push(ending.length)
      await inOneTrip(tx, insert('a'), fails, ...ending)
    })
    await expect(done).rejects.toMatchObject({ code: '22012' })
    expect(endings).toEqual(isEmbedded(database.db) ? [0] : [1, 0])
    expect(await names()).toEqual([])
  })

  test('is not tried again for an error of ours', async () => {
    const endings: number[] = []
    const done = inOneTransaction(database.db, async (tx, ending) => {
      endings.push(ending.length)
      await insert('a').execute(tx)
      throw new BudgetExhaustedError('budget_day', 'used up')
    })
    await expect(done).rejects.toMatchObject({ code: 'budget_day' })
    expect(endings).toHaveLength(1)
    expect(await names()).toEqual([])
  })
})
