import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { createAlerts, standingAlerts } from '../../src/app/ops/alerts.ts'
import { listSchedules, runScheduleNow } from '../../src/app/schedules/schedule-commands.ts'
import { startSchedules, type Schedules } from '../../src/app/schedules/scheduler.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { handOverReport } from '../../src/store/messages/scheduled-reports.ts'
import type { Occurrence } from '../../src/store/runs/schedule-occurrences.ts'
import { createScheduleLedger } from '../../src/store/runs/schedules.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'
import { keepAccount, scoreDays, signalsConfig } from './signals-report.fixture.ts'

const monday = { signalsReport: 'movers', cron: '0 7 * * 1', timeZone: 'Europe/Berlin' }

let sandbox: Sandbox
let server: Server
let house: CrmHouse
let now: Date
let status: number
const started: Schedules[] = []
const received: { id: string; kind: string; severity: string; text: string; report: never }[] = []

beforeAll(async () => {
  sandbox = await startSandbox()
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    received.push(JSON.parse(Buffer.concat(chunks).toString()))
    response.writeHead(status).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await sandbox.stop()
})
beforeEach(async () => {
  received.length = 0
  status = 204
  now = new Date('2026-11-22T09:00:00Z')
  await open({ PAYDIRT_ALERT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` })
})
afterEach(async () => {
  for (const schedules of started.splice(0)) await schedules.stop(5_000)
  await house.close()
})

async function open(env: Record<string, string>) {
  house = await openCrmHouse(sandbox, {
    config: {
      ...signalsConfig,
      connectors: quick,
      schedules: { monday },
      alerts: { reconcileEveryHours: 0 },
    } as never,
    env: { PAYDIRT_PORT: '0', ...env },
    overrides: { now: () => now },
  })
}

async function scheduler(): Promise<Schedules> {
  const schedules = await startSchedules(house.context, { everyMs: 3_600_000 })
  started.push(schedules)
  return schedules
}

const deliver = () => createAlerts(house.context, { signal: new AbortController().signal }).deliver()
const turns = () => house.context.database.db.selectFrom('schedule_turns').selectAll().orderBy('id').execute()
const handedOver = (count: number) =>
  vi.waitFor(
    async () => expect((await turns()).map(({ state }) => state)).toEqual(Array(count).fill('handed_over')),
    { timeout: 20_000, interval: 20 },
  )

async function moveOne() {
  const account = await keepAccount(house.context, { id: '101', name: 'Rising GmbH' }, [
    { title: 'Seller', link: 'https://jobs.example/1', happened: '2026-11-20', seen: '2026-11-20' },
  ])
  await scoreDays(house.context, account, [{ ago: 10 }, { ago: 0 }])
}

test('a report goes to the webhook once at each of its times, over restarts and refusals', async () => {
  await moveOne()
  const first = await scheduler()
  await first.look()
  expect(await turns()).toEqual([])

  now = new Date('2026-11-23T06:00:01Z')
  await Promise.all([first.look(), (await scheduler()).look()])
  await handedOver(1)
  status = 500
  await deliver()
  expect(received).toHaveLength(1)
  // The process is another one now, and the webhook takes messages again.
  for (const schedules of started.splice(0)) await schedules.stop(5_000)
  status = 204
  now = new Date('2026-11-23T07:00:00Z')
  await (await scheduler()).look()
  await deliver()
  await deliver()
  await handedOver(1)
  expect(received).toHaveLength(2)
  expect(new Set(received.map(({ id }) => id)).size).toBe(1)
  expect(received[1]).toMatchObject({
    kind: 'report',
    severity: 'info',
    report: { since: '2026-11-16', pipelines: [{ pipeline: 'movers', counts: { moved: 1 } }] },
  })
  expect(received[1]?.text).toContain('Rising GmbH (hubspot:companies:101)')
  expect(received[1]?.text).toContain('https://jobs.example/1')
  expect(await standingAlerts(house.context)).toEqual([])

  now = new Date('2026-11-30T06:00:01Z')
  await started[0]!.look()
  await handedOver(2)
  await deliver()
  expect(new Set(received.map(({ id }) => id)).size).toBe(2)
})

test('a holder that died is continued by another, and sends nothing when it wakes', async () => {
  const { db } = house.context.database
  const ledger = createScheduleLedger(db, { now: () => now })
  await runScheduleNow(house.context, 'monday')
  const [turn] = await turns()
  const lease = { leaseMs: 60_000, retryMs: 0 }
  const dead = (await ledger.claim(turn!.id, 'dead', lease)) as Occurrence & { report: never }
  now = new Date(now.getTime() + 61_000)
  const living = (await ledger.claim(turn!.id, 'living', lease)) as typeof dead
  expect(await handOverReport(db, { occurrence: dead, holder: 'dead', at: now })).toBe(false)
  expect(await handOverReport(db, { occurrence: living, holder: 'living', at: now })).toBe(true)
  expect(await handOverReport(db, { occurrence: living, holder: 'living', at: now })).toBe(false)
  await deliver()
  await deliver()
  expect(received).toHaveLength(1)
})

test('what was forgotten before a report is sent is not in it', async () => {
  await moveOne()
  await runScheduleNow(house.context, 'monday')
  await (await scheduler()).look()
  await handedOver(1)
  await house.context.database.db.deleteFrom('signal_accounts').execute()
  await deliver()
  expect(received[0]?.text).toContain('no scores yet')
  expect(JSON.stringify(received)).not.toContain('Rising')
})

test('a schedule of a report says its pipeline, and is refused without a webhook', async () => {
  expect(await listSchedules(house.context)).toMatchObject([
    { name: 'monday', connector: 'ledger', signalsReport: 'movers' },
  ])
  await house.close()
  await open({})
  await expect(startSchedules(house.context)).rejects.toThrow(
    'schedules.monday: the report of movers goes to the alert webhook: set PAYDIRT_ALERT_URL',
  )
})
