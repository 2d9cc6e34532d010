import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { isFullSize } from '../support/full-size.ts'
import { openEdge } from '../support/service-edge.ts'

// Processes of their own on one Postgres and one Redis, which ask for the same unconfirmed operation at the same moment.

const hasServers = process.env['DATABASE_URL'] !== undefined && process.env['REDIS_URL'] !== undefined
const path = '/jobs/search'

describe.runIf(isFullSize && hasServers)('processes that race for the only request of an operation', () => {
  let sandbox: Sandbox
  let edge: Awaited<ReturnType<typeof openEdge>>
  let desk: Desk
  beforeAll(async () => {
    sandbox = await startSandbox()
    // Slow enough for all processes to meet it.
    edge = await openEdge(sandbox.serviceUrl, (seen) =>
      seen.path.endsWith(path) ? { afterMs: 1_500 } : undefined,
    )
  })
  afterAll(async () => {
    edge?.close()
    await sandbox?.stop()
  })
  beforeEach(async () => {
    sandbox.faults.reset()
    desk = await openDesk(sandbox)
    // The schema is there before they start.
    const database = await openDatabase({ dataDir: desk.stores.dataDir, url: desk.stores.databaseUrl })
    await database.close()
  })
  afterEach(() => desk?.close())

  /** Each of the processes asks for another search, under a wallet that all of them share. */
  function race(count: number) {
    const bodies = Array.from({ length: count }, (_, at) =>
      JSON.stringify({ domains: ['ridge-bearings.example'], created_at: { from: `2026-01-0${at + 1}` } }),
    )
    return Promise.all(
      bodies.map(
        (body) =>
          desk.start(['service', 'call', 'job.search', '--json', body, '--max-usd', '0.05'], {
            PAYDIRT_SERVICE_URL: edge.url,
          }).ended,
      ),
    )
  }

  test('pay for one unreadable answer, and all end', async () => {
    sandbox.faults.set({ unreadable: { next: 100, only: ['jobs_search'], as: 'html' } })
    const ended = await race(4)
    expect(await desk.transfers()).toHaveLength(1)
    expect(edge.mostAtOnce(path)).toBe(1)
    expect(ended.map(({ status }) => status)).not.toContain(0)
    const stopped = ended.filter(({ stderr }) => /job\.search is stopped/.test(stderr))
    expect(stopped.length).toBeGreaterThanOrEqual(3)
    const database = await openDatabase({ dataDir: desk.stores.dataDir, url: desk.stores.databaseUrl })
    const outcomes = await database.db.selectFrom('lookups').select(['state', 'outcome']).execute()
    await database.close()
    expect(outcomes.filter(({ outcome }) => outcome === 'unreadable')).toHaveLength(1)
    expect(outcomes.filter(({ state }) => state === 'parked')).toHaveLength(3)
  })

  test('all get their answers when the first is read, and each is paid for once', async () => {
    const ended = await race(4)
    expect(ended.map(({ status, stderr }) => (status === 0 ? 0 : stderr))).toEqual([0, 0, 0, 0])
    expect(await desk.transfers()).toHaveLength(4)
  })
})
