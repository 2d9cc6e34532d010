import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startRedis, type Server } from '../faults/servers.ts'
import { startStandbys, type Standbys } from '../faults/standbys.ts'
import { openKilledServices } from '../long/killed-services.fixture.ts'

// Needs redis-server (or valkey-server) and Postgres with pg_basebackup.
const missing = missingServers()
if (missing !== undefined) process.stderr.write(`postgres-switch-over: left out, ${missing}\n`)

const latencyMs = 1_000

describe.skipIf(missing !== undefined)('with a primary and a standby in DATABASE_URL', () => {
  let redis: Server
  let postgres: Standbys
  let sandbox: Sandbox

  beforeAll(async () => {
    redis = await startRedis()
    postgres = await startStandbys()
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: latencyMs, maxMs: latencyMs } },
    })
  })
  afterAll(async () => {
    await sandbox?.stop()
    await postgres?.stop()
    await redis?.stop()
  })

  test('a night goes on when the primary is killed and the standby promoted', async () => {
    const stage = await openKilledServices({ redis, postgres }, sandbox)
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await postgres.switchOver()
    expect(await waiting).toHaveLength(2)
    await stage.expectNothingLost('the primary, and its standby promoted')
  })
})
