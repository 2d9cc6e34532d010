import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { LookupKey } from '../../src/domain/keys.ts'
import { openRedis } from '../../src/queues/connection.ts'
import { createQueues } from '../../src/queues/queues.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingRedisFleet, startCluster, type RedisFleet } from '../faults/redis-fleet.ts'
import { missingServers, startPostgres, type Server } from '../faults/servers.ts'
import { openKilledServices } from '../long/killed-services.fixture.ts'

// Needs Postgres, redis-server and redis-cli.
const missing = missingServers() ?? missingRedisFleet()
if (missing !== undefined) process.stderr.write(`redis-cluster: left out, ${missing}\n`)

const latencyMs = 1_000

describe.skipIf(missing !== undefined)('with Redis by Cluster', () => {
  let fleet: RedisFleet
  let postgres: Server
  let sandbox: Sandbox

  beforeAll(async () => {
    fleet = await startCluster()
    postgres = await startPostgres()
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: latencyMs, maxMs: latencyMs } },
    })
  })
  afterAll(async () => {
    await sandbox?.stop()
    await postgres?.stop()
    await fleet?.stop()
  })

  test('lookups move in blocks, and every script finds its keys on one server', async () => {
    const prefix = '{paydirt-blocks}'
    const connection = await openRedis(fleet.url)
    const errors: string[] = []
    const queues = createQueues(connection.redis, {
      prefix,
      onError: ({ message }) => void errors.push(message),
    })
    const keys = Array.from({ length: 64 }, (_, n) => `company.profile|profnet.com/company/${n}` as LookupKey)
    await queues.addLookups('background', keys, 1_000)
    await queues.hurryLookups(keys.slice(0, 2))
    expect(await queues.dropLookups(keys.slice(2, 4))).toBe(2)
    expect(await queues.countLookups('background')).toBe(60)
    const done = new Set<LookupKey>()
    const worker = queues.workLookups('background', 8, async (key, starts) => {
      if (starts === 1 && key === keys.at(-1)) return { againInMs: 1 }
      done.add(key)
    })
    await expect.poll(() => queues.countLookups('background'), { timeout: 60_000 }).toBe(0)
    expect([...done].sort()).toEqual(keys.slice(4).sort())
    await worker.close(1_000)
    await queues.close()
    await connection.close()
    expect(errors).toEqual([])
  })

  test('a night goes on when the server of our keys is killed and another takes its place', async () => {
    const stage = await openKilledServices({ redis: fleet, postgres }, sandbox)
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await fleet.failOver(stage.house.stores.redisPrefix)
    expect(await waiting).toHaveLength(2)
    await stage.press(2)
    await stage.expectNothingLost('the server of our keys, replaced by Cluster')
  })
})
