import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openDatabase, type OpenDatabase } from '../../src/store/database/database.ts'
import { noLimits } from '../../src/store/database/postgres/limits.ts'
import { openReplica, type Replica } from '../../src/store/database/replica.ts'
import { missingServers, startPostgres, type Server } from '../faults/servers.ts'
import { startStandby } from '../faults/standbys.ts'

// Needs Postgres with pg_basebackup.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`standby-mistaken: left out, ${missing}\n`)

/** An address of which each connection leads to a server of its own, until nothing passes any more. */
async function lineTo(server: () => Server) {
  const sockets = new Set<Socket>()
  let isSilent = false
  const line = createServer((client) => {
    const { port } = new URL(server().url)
    const behind = connect(Number(port), '127.0.0.1')
    for (const [from, to] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => void (isSilent || to.write(bytes)))
      from.on('close', () => to.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(line, 'listening')
  return {
    url: `postgres://paydirt@127.0.0.1:${(line.address() as AddressInfo).port}/postgres`,
    silence: () => void (isSilent = true),
    end() {
      for (const socket of sockets) socket.destroy()
      line.close()
    },
  }
}

describe.skipIf(missing !== undefined)('a server that may be taken for the standby', () => {
  let primary: Server
  let standby: Server
  const opened: { close(): Promise<void> }[] = []

  beforeAll(async () => {
    primary = await startPostgres()
    const { db, close } = await openDatabase({ url: primary.url, dataDir: '' })
    await db.insertInto('meta').values({ key: 'ledger_id', value: 'the-ledger' }).execute()
    await close()
    standby = await startStandby(primary)
  })
  afterAll(async () => {
    for (const each of opened.reverse()) await each.close()
    for (const server of [standby, primary]) await server?.stop()
  })

  async function open(url: string): Promise<OpenDatabase> {
    const database = await openDatabase({ url, dataDir: '' })
    opened.push(database)
    return database
  }

  async function follow({ db }: OpenDatabase, url: string, most = 2): Promise<Replica> {
    const replica = await openReplica({
      url,
      primary: db,
      connections: { most, applicationName: 'test', limits: noLimits },
      mostBehindMs: 3_000,
      onChange: () => {},
      onFailedRead: () => {},
      everyMs: 50,
    })
    opened.push(replica)
    return replica
  }

  const settled = async (replica: Replica) => {
    await vi.waitFor(() => expect(replica.state()).not.toEqual({ name: 'behind', behindMs: undefined }))
    // A second of measurements: what is to be refused must not be read now and then.
    const seen = new Set<string>()
    for (let round = 0; round < 20; round += 1) seen.add((await replica.check()).name)
    return [...seen]
  }

  test('is read when it follows this database', async () => {
    expect(await settled(await follow(await open(primary.url), standby.url))).toContain('near')
  })

  test('is foreign when it has a copy of the ledger on another server, which knows nothing of it', async () => {
    const other = await startPostgres()
    opened.push({ close: () => other.stop() })
    const copy = await open(other.url)
    await copy.db.insertInto('meta').values({ key: 'ledger_id', value: 'the-ledger' }).execute()
    // Its log is longer than that of the copy.
    const client = new pg.Client({ connectionString: primary.url })
    await client.connect()
    await client.query('create table filler as select generate_series(1, 200000)')
    await client.end()
    expect(await settled(await follow(copy, standby.url))).toEqual(['foreign'])
  })

  test('is foreign when it has a copy of the ledger in another database of the same server', async () => {
    const client = new pg.Client({ connectionString: primary.url })
    await client.connect()
    await vi
      .waitFor(() => client.query('create database copied template postgres'), { timeout: 10_000 })
      .catch(async () => {
        await client.query('create database copied')
      })
    await client.end()
    const url = primary.url.replace(/postgres$/, 'copied')
    const copy = await open(url)
    await copy.db
      .insertInto('meta')
      .values({ key: 'ledger_id', value: 'the-ledger' })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    expect(await settled(await follow(copy, standby.url))).toEqual(['foreign'])
  })

  test('is measured by whoever reads, where one address leads to several', async () => {
    const paused = await startStandby(primary)
    opened.push({ close: () => paused.stop() })
    const on = async (server: Server, text: string) => {
      const client = new pg.Client({ connectionString: server.url })
      await client.connect()
      await client.query(text)
      await client.end()
    }
    await on(paused, 'select pg_wal_replay_pause()')
    const database = await open(primary.url)
    const write = () =>
      database.db
        .insertInto('meta')
        .values({ key: 'written', value: 'yes' })
        .onConflict((conflict) => conflict.doNothing())
        .execute()
    // Connections lead to one and the other in turns, as by the address of a service that shares them out.
    let turn = 0
    const { url, end } = await lineTo(() => [standby, paused][turn++ % 2] as Server)
    const replica = await follow(database, url, 8)
    await vi.waitFor(() => expect(replica.state().name).toBe('near'), { timeout: 10_000 })
    await write()
    await new Promise((resolve) => setTimeout(resolve, 4_000))
    const isThere = (db: OpenDatabase['db']) =>
      sql`select pg_sleep(0.05), value from meta where key = 'written'`.execute(db)
    let fromStandby = 0
    for (let round = 0; round < 20; round += 1) {
      const readings = await Promise.all(Array.from({ length: 6 }, () => replica.read(isThere)))
      for (const { result, behindMs } of readings) {
        // More than four seconds have passed, and no more than three are allowed.
        expect(result.rows).toHaveLength(1)
        if (behindMs !== undefined) fromStandby += 1
      }
    }
    expect(fromStandby).toBeGreaterThan(10)
    await replica.close()
    end()
  })

  test('holds up nobody who ends when it says nothing any more', async () => {
    const { url, silence, end } = await lineTo(() => standby)
    const replica = await follow(await open(primary.url), url)
    await vi.waitFor(() => expect(replica.state().name).toBe('near'), { timeout: 10_000 })
    silence()
    const reading = replica.read(async (db) => db.selectFrom('meta').selectAll().execute())
    reading.catch(() => {})
    await new Promise((resolve) => setTimeout(resolve, 300))
    const began = performance.now()
    await Promise.race([replica.close(), new Promise((resolve) => setTimeout(resolve, 60_000))])
    const tookMs = performance.now() - began
    end()
    expect(tookMs).toBeLessThan(5_000)
  })
})
