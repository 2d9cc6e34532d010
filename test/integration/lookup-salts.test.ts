import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRedis } from '../../src/queues/connection.ts'
import { createQueues } from '../../src/queues/queues.ts'
import { eraseSubject } from '../../src/store/subjects/erase-subject.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let ledger: Awaited<ReturnType<typeof openFreshLedger>>
beforeAll(async () => void (ledger = await openFreshLedger()))
afterAll(() => ledger.close())

const now = () => new Date()

test('every lookup has a salt of its own, of a random source, that keeps when it is wanted again', async () => {
  const world = await openLedgerRun(ledger.database, { lookups: 200, now })
  const salts = async () =>
    (await world.db.selectFrom('lookups').select('salt').orderBy('key').execute()).map(({ salt }) => salt)
  const first = await salts()
  expect(new Set(first).size).toBe(200)
  expect(first.every((salt) => /^[0-9a-f-]{36}$/.test(salt ?? ''))).toBe(true)
  await world.lookups.want(world.wanted, { id: world.run.id, connector: world.connector, hot: true })
  expect(await salts()).toEqual(first)

  const other = await openFreshLedger({ onQuery: () => {} })
  try {
    const elsewhere = await openLedgerRun(other.database, { lookups: 50, now })
    const rows = await elsewhere.db.selectFrom('lookups').select('salt').execute()
    expect(rows.filter(({ salt }) => first.includes(salt))).toEqual([])
  } finally {
    await other.close()
  }
})

test('a lookup that is forgotten while its payment is about to be reserved is not paid for', async () => {
  const world = await openLedgerRun(ledger.database, { lookups: 2, now })
  const [gone, other] = world.keys
  await eraseSubject(
    ledger.database.db,
    { identifiers: [], lookups: [gone!], taskIds: [], names: [], contested: [] },
    { now, token: () => randomBytes(6).toString('hex') },
  )
  const [refused, reserved] = await Promise.allSettled([
    world.reserve(gone!, [{ scope: `run:${world.id}`, capAtomic: 20_000n }]),
    world.reserve(other!, [{ scope: `run:${world.id}`, capAtomic: 20_000n }]),
  ])
  expect(refused).toMatchObject({ reason: { code: 'ended_meanwhile', countsAsTry: false } })
  expect(reserved).toMatchObject({ value: { lookupKey: other, state: 'journaled' } })
  expect(await world.committed(`run:${world.id}`)).toBe(10_000n)
})

test("a job that comes back knows how often it was started, and the lookup's next job begins anew", async () => {
  const redis = await openRedis(process.env['REDIS_URL'])
  const queues = createQueues(redis.redis, {
    prefix: `paydirt_test_starts_${process.pid}`,
    onError: () => {},
  })
  const world = await openLedgerRun(ledger.database, { lookups: 1, now })
  const seen: number[] = []
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  const worker = queues.workLookups('hot', 1, async (_, starts) => {
    seen.push(starts)
    if (seen.length < 3) return { againInMs: 1 }
    if (seen.length > 3) resolve()
  })
  // As the enqueuer does: while the job is there, adding it again does nothing.
  const enqueuer = setInterval(() => void queues.addLookups('hot', world.keys), 20)
  try {
    await queues.addLookups('hot', world.keys)
    await ended
    expect(seen.slice(0, 4)).toEqual([1, 2, 3, 1])
  } finally {
    clearInterval(enqueuer)
    await worker.close(1_000)
    await queues.close()
    await redis.close()
  }
})
