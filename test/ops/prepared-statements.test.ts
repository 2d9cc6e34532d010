import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openDatabase, type Database, type OpenDatabase } from '../../src/store/database/database.ts'
import { noLimits } from '../../src/store/database/postgres/limits.ts'
import { inOneTrip } from '../../src/store/database/postgres/one-trip.ts'
import { retryWhileAway } from '../../src/store/database/retry-while-away.ts'
import { missingPgbouncer, startPgbouncer } from '../faults/pgbouncer.ts'
import { missingServers, startPostgres, type Server } from '../faults/servers.ts'

// Needs Postgres and, for what is behind a pooler, pgbouncer.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`prepared-statements: left out, ${missing}\n`)

const connections = (most: number) => ({ most, applicationName: 'paydirt', limits: noLimits })

describe.skipIf(missing !== undefined)('statements that are asked often', () => {
  let postgres: Server
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.stop())

  async function withLedger(
    work: (ledger: OpenDatabase & { other: Database }) => Promise<void>,
    { url = postgres.url, most = 1 } = {},
  ): Promise<void> {
    const ledger = await openDatabase({ url, dataDir: '', connections: connections(most) })
    const other = await openDatabase({ url: postgres.url, dataDir: '', connections: connections(1) })
    try {
      await work({ ...ledger, other: other.db })
    } finally {
      await ledger.close()
      await other.close()
    }
  }

  const prepared = async (db: Database) =>
    (
      await sql<{ statement: string }>`select statement from pg_prepared_statements order by 1`.execute(db)
    ).rows.map(({ statement }) => statement)
  const twice = (db: Database, given: number) =>
    sql<{ twice: number }>`select ${given}::int * 2 as twice`.execute(db).then(({ rows }) => rows[0]?.twice)

  test('are prepared on a connection of the server, also side by side in one trip', () =>
    withLedger(async ({ db }) => {
      expect([await twice(db, 1), await twice(db, 2)]).toEqual([2, 4])
      expect(await prepared(db)).toEqual([])
      const answers = await db.transaction().execute((tx) => {
        const asked = [3, 4, 5].map((given) => sql<{ twice: number }>`select ${given}::int * 2 as twice`)
        return inOneTrip(tx, ...asked)
      })
      expect(answers.map(({ rows }) => rows)).toEqual([[{ twice: 6 }], [{ twice: 8 }], [{ twice: 10 }]])
      expect(await prepared(db)).toEqual(['select $1::int * 2 as twice'])
      // An error of one leaves the others as they are.
      const half = (by: number) => sql`select 12 / ${by}::int as part`.execute(db)
      for (const by of [1, 2, 3]) await half(by)
      await expect(half(0)).rejects.toMatchObject({ code: '22012' })
      expect((await half(4)).rows).toEqual([{ part: 3 }])
    }))

  test('go on after a newer version has changed the columns of their table', () =>
    withLedger(async ({ db, other }) => {
      await sql`create table changed (id int, name text)`.execute(other)
      await sql`insert into changed values (1, 'one')`.execute(other)
      const read = (from: Database) => sql`select * from changed where id = ${1}`.execute(from)
      for (let use = 0; use < 3; use += 1) await read(db)
      expect(await prepared(db)).toContain('select * from changed where id = $1')
      await sql`alter table changed add column size int default 5`.execute(other)
      expect((await read(db)).rows).toEqual([{ id: 1, name: 'one', size: 5 }])
      // Several that leave together are asked again, each by itself.
      const both = () => inOneTrip(db, ...[1, 2].map((id) => sql`select * from changed where id = ${id}`))
      for (let use = 0; use < 3; use += 1) await both()
      await sql`alter table changed add column more int`.execute(other)
      expect((await both()).map(({ rows }) => rows)).toEqual([
        [{ id: 1, name: 'one', size: 5, more: null }],
        [],
      ])
      await sql`alter table changed drop column more`.execute(other)
      // In a transaction nothing more can be asked: it is repeated, on a new connection.
      for (let use = 0; use < 3; use += 1) await read(db)
      await sql`alter table changed drop column name`.execute(other)
      let tries = 0
      const inTransaction = () =>
        db.transaction().execute(async (tx) => {
          tries += 1
          await sql`insert into changed values (${tries + 1})`.execute(tx)
          return (await read(tx)).rows
        })
      expect(await retryWhileAway(inTransaction, { everyMs: 1 })).toEqual([{ id: 1, size: 5 }])
      expect(tries).toBe(2)
      expect((await sql`select id from changed order by 1`.execute(other)).rows).toEqual([
        { id: 1 },
        { id: 3 },
      ])
    }))

  test('are asked again where the server has forgotten them', () =>
    withLedger(async ({ db }) => {
      for (let given = 0; given < 4; given += 1) await twice(db, given)
      await sql`discard all`.execute(db)
      expect(await twice(db, 5)).toBe(10)
      expect(await twice(db, 6)).toBe(12)
      for (let given = 0; given < 4; given += 1) await twice(db, given)
      await sql`deallocate all`.execute(db)
      const inTransaction = () => db.transaction().execute((tx) => twice(tx, 7))
      expect(await retryWhileAway(inTransaction, { everyMs: 1 })).toBe(14)
    }))

  test.skipIf(missingPgbouncer() !== undefined)('are not prepared behind a pooler', async () => {
    const pgbouncer = await startPgbouncer(postgres)
    try {
      await withLedger(
        async ({ db }) => {
          for (let round = 0; round < 5; round += 1)
            expect(await Promise.all([1, 2, 3, 4].map((given) => twice(db, given)))).toEqual([2, 4, 6, 8])
          const lists = await Promise.all([1, 2, 3, 4].map(() => prepared(db)))
          expect(lists.flat()).toEqual([])
        },
        { url: pgbouncer.url, most: 4 },
      )
    } finally {
      await pgbouncer.stop()
    }
  })
})
