import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingPgbouncer, startPgbouncer } from '../faults/pgbouncer.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { openKilledServices } from '../long/killed-services.fixture.ts'

// Needs redis-server (or valkey-server), Postgres and pgbouncer.
const missing = missingServers() ?? missingPgbouncer()
if (missing !== undefined) process.stderr.write(`pgbouncer: left out, ${missing}\n`)

const latencyMs = 1_000

describe.skipIf(missing !== undefined)('behind pgbouncer in transaction mode', () => {
  let redis: Server
  let postgres: Server
  let pgbouncer: Server
  let sandbox: Sandbox

  beforeAll(async () => {
    redis = await startRedis()
    postgres = await startPostgres()
    pgbouncer = await startPgbouncer(postgres)
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: latencyMs, maxMs: latencyMs } },
    })
  })
  afterAll(async () => {
    await sandbox?.stop()
    for (const server of [pgbouncer, postgres, redis]) await server?.stop()
  })

  test('a night goes on when the pooler is killed, and when the database behind it is', async () => {
    const stage = await openKilledServices({ redis, postgres: pgbouncer }, sandbox)
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await pgbouncer.kill()
    await pgbouncer.start()
    expect(await waiting).toHaveLength(2)
    await stage.untilUnderWay()
    await postgres.kill()
    await postgres.start()
    await stage.expectNothingLost('pgbouncer, then Postgres behind it')
  })
})
