import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingRedisFleet, startSentinels, type RedisFleet } from '../faults/redis-fleet.ts'
import { missingServers, startPostgres, type Server } from '../faults/servers.ts'
import { openKilledServices } from '../long/killed-services.fixture.ts'

// Needs Postgres, redis-server and redis-cli.
const missing = missingServers() ?? missingRedisFleet()
if (missing !== undefined) process.stderr.write(`redis-sentinel: left out, ${missing}\n`)

const latencyMs = 1_000

describe.skipIf(missing !== undefined)('with Redis by Sentinel', () => {
  let fleet: RedisFleet
  let postgres: Server
  let sandbox: Sandbox

  beforeAll(async () => {
    fleet = await startSentinels()
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

  test('a night goes on when the server of our keys is killed and another takes its place', async () => {
    const stage = await openKilledServices({ redis: fleet, postgres }, sandbox)
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await fleet.failOver(stage.house.stores.redisPrefix)
    expect(await waiting).toHaveLength(2)
    await stage.press(2)
    await stage.expectNothingLost('the server of our keys, replaced by Sentinel')
  })
})
