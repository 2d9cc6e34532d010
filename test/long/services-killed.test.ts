import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { openKilledServices, roles, type Task } from './killed-services.fixture.ts'

const missing = missingServers()
if (missing !== undefined) process.stderr.write(`services-killed: left out, ${missing}\n`)

const latencyMs = 1_000

test('docker-compose.yml declares web, two workers and a scheduler', () => {
  expect([...roles].sort()).toEqual([
    ['scheduler', 'scheduler'],
    ['web', 'web'],
    ['worker', 'worker'],
    ['worker-2', 'worker'],
  ])
})

// The same processes as `docker compose up` starts, on one Redis and one Postgres; what is killed is started again.
describe.skipIf(missing !== undefined)('web, two workers and scheduler, of which is killed', () => {
  let servers: { redis: Server; postgres: Server }
  let sandbox: Sandbox

  beforeAll(async () => {
    servers = { redis: await startRedis(), postgres: await startPostgres() }
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: latencyMs, maxMs: latencyMs } },
    })
  })
  afterAll(async () => {
    await sandbox?.stop()
    await servers?.redis.stop()
    await servers?.postgres.stop()
  })

  test('each worker in turn: nothing is lost', async () => {
    const stage = await openKilledServices(servers, sandbox)
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await stage.kill('worker')
    await stage.start('worker')
    await stage.untilUnderWay()
    await stage.kill('worker-2')
    await stage.start('worker-2')
    expect(await waiting).toHaveLength(2)
    await stage.expectNothingLost('worker, then worker-2')
  })

  test('both workers at once: nothing is lost', async () => {
    const stage = await openKilledServices(servers, sandbox)
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await Promise.all([stage.kill('worker'), stage.kill('worker-2')])
    await Promise.all([stage.start('worker'), stage.start('worker-2')])
    expect(await waiting).toHaveLength(2)
    await stage.expectNothingLost('both workers')
  })

  test('the web service while somebody waits: what was accepted comes to its end, under the same address', async () => {
    const stage = await openKilledServices(servers, sandbox)
    await stage.untilUnderWay()
    const [asked] = (await stage.press(1)) as [Task]
    const [waiter = ''] = stage.house.addCompanies(1)
    const broken = stage.pressOne(waiter, '?wait=10')
    broken.catch(() => {})
    await stage.untilTaken(waiter)
    // Held up in HubSpot: a press is accepted and its record not read yet, when its process dies.
    const read = stage.house.gate.hold(/^POST .*\/companies\/batch\/read/)
    const [accepted] = (await stage.press(1)) as [Task]
    await read.arrived
    await stage.kill('web')
    await expect(broken).rejects.toThrow(/fetch failed|terminated/)
    expect(await stage.statusesOf(accepted.recordId)).toEqual(['queued'])
    read.release()

    await stage.start('web')
    for (const task of [asked, accepted]) {
      const { status, fields } = await stage.untilDone(task)
      // A planned run that met the record first has written it.
      expect(['written', 'unchanged']).toContain(status)
      expect(fields.length > 0).toBe(status === 'written')
    }
    // A person who heard nothing presses again, and gets the task that was made of the first press.
    await stage.pressOne(waiter, '?wait=10')
    expect(await stage.statusesOf(waiter)).toHaveLength(1)
    await stage.expectNothingLost('web')
  })

  test('the scheduler in mid scan, and while its run is worked on: no run is lost, and none is begun twice', async () => {
    const stage = await openKilledServices(servers, sandbox, { holdScan: true })
    await stage.press(3)
    await stage.kill('scheduler')
    expect(await stage.scheduledRuns()).toMatchObject([{ state: 'scanning', scanned_at: null, records: 100 }])
    stage.scan.release()
    await stage.start('scheduler')
    await stage.press(2, '?wait=10')
    // The dead one's lease runs a minute.
    await vi.waitFor(
      async () => expect((await stage.scheduledRuns())[0]).toMatchObject({ scanned_at: expect.any(Date) }),
      { timeout: 90_000, interval: 100 },
    )
    await stage.kill('scheduler')
    expect(await stage.scheduledRuns()).toMatchObject([{ state: 'working' }])
    await stage.start('scheduler')
    await stage.expectNothingLost('scheduler, twice')
  })
})
