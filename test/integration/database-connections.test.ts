import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { isAway } from '../../src/store/database/retry-while-away.ts'
import { openDatabase, type Connections } from '../../src/store/database/database.ts'
import { freePort } from '../support/free-port.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

const connections: Connections = {
  most: 3,
  applicationName: 'paydirt-web',
  limits: { statementSeconds: 0.5, lockSeconds: 0.2, idleInTransactionSeconds: 60 },
}

// Needs a server: the embedded database has one connection, without bounds.
describe.runIf(process.env['DATABASE_URL'])('the connections to Postgres', () => {
  let stores: FreshStores

  beforeAll(async () => {
    stores = await freshStores()
  })
  afterAll(() => stores.cleanup())

  const open = (url = stores.databaseUrl) => openDatabase({ url, dataDir: stores.dataDir, connections })

  test('bear the name of their role, and every transaction keeps the limits', async () => {
    const { db, close } = await open()
    const show = (name: string) => sql.raw<Record<string, string>>(`show ${name}`)
    await db.transaction().execute(async (tx) => {
      expect((await show('application_name').execute(tx)).rows).toEqual([{ application_name: 'paydirt-web' }])
      expect((await show('lock_timeout').execute(tx)).rows).toEqual([{ lock_timeout: '200ms' }])
      const idle = { idle_in_transaction_session_timeout: '1min' }
      expect((await show('idle_in_transaction_session_timeout').execute(tx)).rows).toEqual([idle])
    })
    const slow = db.transaction().execute((tx) => sql`select pg_sleep(20)`.execute(tx))
    await expect(slow).rejects.toMatchObject({ code: '57014' })
    await close()
  })

  test('stay open while nobody uses them, so that somebody who waits opens none', async () => {
    const { db, close } = await open()
    const used = () =>
      Promise.all(
        Array.from({ length: 3 }, async () => {
          const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid, pg_sleep(0.1)`.execute(
            db,
          )
          return rows[0]?.pid
        }),
      )
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const before = await used()
      expect(new Set(before).size).toBe(3)
      vi.advanceTimersByTime(60_000)
      expect((await used()).toSorted()).toEqual(before.toSorted())
    } finally {
      vi.useRealTimers()
      await close()
    }
  })

  test('wait for a lock no longer than they may, and the transaction can be repeated', async () => {
    const { db, close } = await open()
    const lock = sql`select pg_advisory_xact_lock(1)`
    const held = await db.startTransaction().execute()
    await lock.execute(held)
    const failed = await db
      .transaction()
      .execute((tx) => lock.execute(tx))
      .catch((error: unknown) => error)
    expect(failed).toMatchObject({ code: '55P03' })
    expect(isAway(failed)).toBe(true)
    await held.rollback().execute()
    await close()
  })

  test('pass over a host that is away, and drop those to a server that takes no more writes', async () => {
    const url = new URL(stores.databaseUrl as string)
    const hosts = `127.0.0.1:${await freePort()},${url.host}`
    const { db, close } = await open(`postgres://${url.username}@${hosts}${url.pathname}`)
    await sql`create table kept (value int)`.execute(db)
    const mode = 'default_transaction_read_only'
    await onServer(`alter database ${stores.redisPrefix} set ${mode} = on`)
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${stores.redisPrefix}'`
    await onServer(cut)
    const refused = await sql`insert into kept values (1)`.execute(db).catch((error: unknown) => error)
    expect([isAway(refused), refused]).toEqual([true, expect.any(Error)])
    await onServer(`alter database ${stores.redisPrefix} reset ${mode}`)
    await onServer(cut)
    await sql`select`.execute(db).catch(() => {})
    await sql`insert into kept values (2)`.execute(db)
    await close()
  })
})

async function onServer(statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: process.env['DATABASE_URL'] })
  await client.connect()
  await client.query(statement)
  await client.end()
}
