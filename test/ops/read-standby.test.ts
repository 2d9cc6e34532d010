import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createLog } from '../../src/app/context/log.ts'
import { checkStandby } from '../../src/app/ops/standby-finding.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { databaseAddresses } from '../../src/store/database/postgres/addresses.ts'
import { noLimits } from '../../src/store/database/postgres/limits.ts'
import { createLedgerPool } from '../../src/store/database/postgres/pool.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { startStandby } from '../faults/standbys.ts'
import { openHttpHouse, type HttpHouse } from '../support/http-house.ts'
import { viewReads } from './view-reads.ts'

// Needs redis-server (or valkey-server) and Postgres with pg_basebackup.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`read-standby: left out, ${missing}\n`)

const note = 'Read from the standby'
const mostBehindSeconds = 10

describe.skipIf(missing !== undefined)('with a standby in DATABASE_READ_URL', () => {
  let redis: Server
  let primary: Server
  let standby: Server
  let sandbox: Sandbox
  let house: HttpHouse
  let db: Database
  const lines: { level: number; msg: string }[] = []

  beforeAll(async () => {
    redis = await startRedis()
    primary = await startPostgres()
    standby = await startStandby(primary)
    sandbox = await startSandbox()
    house = await openHttpHouse(sandbox, {
      env: { DATABASE_URL: primary.url, DATABASE_READ_URL: standby.url, REDIS_URL: redis.url },
      config: { database: { readBehindSeconds: mostBehindSeconds } },
      overrides: {
        role: 'all',
        log: createLog(
          { level: 'info', modules: {} },
          { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
        ),
      },
    })
    db = house.context.database.db
  })
  afterAll(async () => {
    await house?.close()
    await sandbox?.stop()
    for (const server of [standby, primary, redis]) await server?.stop()
  })

  async function page(path: string, headers: Record<string, string> = {}): Promise<string> {
    const answer = await fetch(`${house.url}${path}`, { headers: { accept: 'text/html', ...headers } })
    expect(answer.status).toBe(200)
    return answer.text()
  }

  async function onStandby(text: string): Promise<Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: standby.url })
    await client.connect()
    const { rows } = await client.query<Record<string, unknown>>(text)
    await client.end()
    return rows
  }

  async function addRun(id: string): Promise<void> {
    const at = new Date()
    await db
      .insertInto('runs')
      .values({
        id,
        connector: 'hubspot',
        object: 'company',
        entity: 'companies',
        recipe: 'profile',
        trigger: 'sync',
        state: 'finished',
        fingerprint: id,
        source: '{}',
        scanned_at: at,
        records: 0,
        started_at: at,
        finished_at: at,
      })
      .execute()
  }

  /** Until the pages are read from there, or from the primary. */
  const untilRead = (fromStandby: boolean) =>
    vi.waitFor(async () => expect((await page('/runs')).includes(note)).toBe(fromStandby), {
      timeout: 60_000,
      interval: 200,
    })

  test('lists, figures and metrics are read from it, and say how far behind it may be', async () => {
    await untilRead(true)
    for (const path of ['/runs', '/spend', '/charts', '/failures']) {
      expect(await page(path)).toMatch(/Read from the standby, at most \d+\.\d s behind\./)
    }
    for (const path of ['/', '/records', '/settings', '/audit']) expect(await page(path)).not.toContain(note)
    const metrics = await page('/metrics')
    expect(metrics).toContain('paydirt_standby_used 1')
    expect(metrics).toMatch(/^paydirt_standby_behind_seconds \d/m)
    expect(lines.map(({ msg }) => msg)).toContain('pages are read from the standby')
  })

  test('a run that the standby lacks is not called missing, and who has changed something misses nothing', async () => {
    await untilRead(true)
    await onStandby('select pg_wal_replay_pause()')
    try {
      await addRun('just-begun')
      const list = await page('/runs')
      expect(list).toContain(note)
      expect(list).not.toContain('just-begun')
      // By its address, whoever asks.
      const run = await page('/runs/just-begun')
      expect(run).toContain('just-begun')
      expect(run).not.toContain(note)

      const first = await fetch(`${house.url}/spend`, { headers: { accept: 'text/html' } })
      const session = first.headers.getSetCookie().at(-1)?.split(';')[0] ?? ''
      const csrf = /name="_csrf" value="([^"]+)"/.exec(await first.text())?.[1] ?? ''
      const changed = await fetch(`${house.url}/spending/stop`, {
        method: 'POST',
        redirect: 'manual',
        headers: { origin: house.url, cookie: session },
        body: new URLSearchParams({ _csrf: csrf, reason: 'a test' }),
      })
      expect(await changed.text()).toBe('')
      expect(changed.status).toBe(303)
      const mark = changed.headers.getSetCookie().find((line) => line.startsWith('paydirt_changed='))
      // It outlasts what the standby may be behind.
      expect(Number(/Max-Age=(\d+)/.exec(mark ?? '')?.[1])).toBeGreaterThan(mostBehindSeconds)
      const own = await page('/runs', { cookie: `${session}; ${mark?.split(';')[0]}` })
      expect(own).toContain('just-begun')
      expect(own).not.toContain(note)
      expect(await page('/runs', { cookie: session })).toContain(note)
    } finally {
      await house.context.spendSwitch.resume()
      await onStandby('select pg_wal_replay_resume()')
    }
  })

  test('one that stops to follow is read until it is too far behind, and again when it has caught up', async () => {
    await untilRead(true)
    await onStandby('select pg_wal_replay_pause()')
    try {
      await addRun('behind')
      lines.length = 0
      await untilRead(false)
      expect(await page('/runs')).toContain('behind')
      // A measurement that has grown old is not read, and the next one says so.
      await vi.waitFor(
        () =>
          expect(lines).toContainEqual(
            expect.objectContaining({
              level: 40,
              msg: 'pages are read from the primary: the standby is of no use',
            }),
          ),
        10_000,
      )
      expect(await page('/metrics')).toContain('paydirt_standby_used 0')
      expect(await checkStandby(house.context.config)).toMatchObject([{ name: 'standby', status: 'warning' }])
    } finally {
      await onStandby('select pg_wal_replay_resume()')
    }
    await untilRead(true)
    expect(await page('/runs')).toContain('behind')
  })

  test('one that has lost its primary, while that is idle, is not taken for one that follows', async () => {
    await untilRead(true)
    const [row] = await onStandby('show primary_conninfo')
    const followsAt = async (address: string) => {
      await onStandby(`alter system set primary_conninfo = '${address.replaceAll("'", "''")}'`)
      await onStandby('select pg_reload_conf()')
    }
    await followsAt('host=127.0.0.1 port=1')
    await vi.waitFor(async () => expect(await onStandby('select from pg_stat_wal_receiver')).toEqual([]), {
      timeout: 30_000,
    })
    await addRun('cut-off')
    await untilRead(false)
    await followsAt(String(row?.['primary_conninfo']))
    await untilRead(true)
    expect(await page('/runs')).toContain('cut-off')
  })

  test('one that dies costs no page, and is used again when it is back', async () => {
    await untilRead(true)
    lines.length = 0
    await standby.kill()
    for (let asked = 0; asked < 5; asked += 1) expect(await page('/runs')).not.toContain(note)
    await vi.waitFor(() => expect(lines.some(({ level }) => level === 40)).toBe(true), 10_000)
    expect(await checkStandby(house.context.config)).toMatchObject([{ name: 'standby', status: 'problem' }])
    await standby.start()
    await untilRead(true)
  })

  test('the doctor says how far it is behind, and refuses what is no standby of this database', async () => {
    const { config } = house.context
    const mostBehindMs = mostBehindSeconds * 1_000
    expect(await checkStandby(config)).toMatchObject([
      { status: 'ok', message: expect.stringMatching(/follows, at most \d+\.\d s behind$/) as string },
    ])
    const itself = { ...config, reads: { url: primary.url, mostBehindMs } }
    expect(await checkStandby(itself)).toMatchObject([
      { status: 'problem', message: expect.stringContaining('it is no standby') as string },
    ])
    const other = await startPostgres()
    const ofOther = await startStandby(other)
    try {
      const foreign = await openDatabase({ url: other.url, dataDir: '' })
      await foreign.db.insertInto('meta').values({ key: 'ledger_id', value: 'another' }).execute()
      await foreign.close()
      await vi.waitFor(
        async () =>
          expect(await checkStandby({ ...config, reads: { url: ofOther.url, mostBehindMs } })).toMatchObject([
            { status: 'problem', message: expect.stringContaining('it has another ledger') as string },
          ]),
        { timeout: 30_000 },
      )
    } finally {
      await ofOther.stop()
      await other.stop()
    }
  })

  test('its connections refuse to write, whatever the server is', async () => {
    const addresses = databaseAddresses(primary.url)
    if (!addresses) throw new Error('no address')
    const pool = await createLedgerPool({
      ...addresses,
      connections: 2,
      applicationName: 'test',
      limits: noLimits,
      isReadOnly: true,
    })
    const client = await pool.connect()
    await expect(client.query("insert into meta (key, value) values ('a', 'b')", [])).rejects.toMatchObject({
      code: '25006',
    })
    client.release()
    await pool.end()
  })

  test('every view reads without writing', async () => {
    const standing = await createLedgerPool({
      urls: [standby.url],
      needsPrimary: false,
      connections: 2,
      applicationName: 'test',
      limits: noLimits,
      isReadOnly: true,
    })
    const { called, known } = await viewReads(standing)
    expect(called).toEqual(known)
    expect(called.length).toBeGreaterThan(40)
  })
})
