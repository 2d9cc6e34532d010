import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { createAlerts, standingAlerts, type Alerts } from '../../src/app/ops/alerts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, quick, type CrmHouse } from './crm-house.ts'

const secret = 'what signs the alerts'
const hourMs = 3_600_000

interface Message {
  id: string
  kind: string
  condition: string
  subject: string
  message: string
  text: string
}

let sandbox: Sandbox
let server: Server
let house: CrmHouse
let shiftMs: number
let status: number
const received: { message: Message; body: string; headers: IncomingHttpHeaders }[] = []

beforeAll(async () => {
  sandbox = await startSandbox()
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    received.push({ message: JSON.parse(body), body, headers: request.headers })
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
beforeEach(() => {
  received.length = 0
  status = 204
  shiftMs = 0
})
afterEach(async () => {
  await house.close()
})

async function open(config: FileConfig) {
  house = await openCrmHouse(sandbox, {
    config: { ...config, connectors: quick },
    env: {
      PAYDIRT_ALERT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
      PAYDIRT_ALERT_SECRET: secret,
    },
    overrides: { now: () => new Date(Date.now() + shiftMs) },
  })
}

const alerts = () => createAlerts(house.context, { signal: new AbortController().signal, restMs: 0 })

async function lookAndDeliver(one: Alerts): Promise<void> {
  await one.look()
  await one.deliver()
}

const told = () => received.map(({ message }) => `${message.kind} ${message.condition}/${message.subject}`)
const { now } = Date

test('a low wallet is told once by however many processes, signed, and once when it is filled', async () => {
  await open({ alerts: { walletBelowUsd: '25', reconcileEveryHours: 0 } })
  const both = [alerts(), alerts()]
  await Promise.all(both.map(lookAndDeliver))
  await Promise.all(both.map(lookAndDeliver))
  expect(told()).toEqual(['raised wallet_low/wallet'])
  const [{ body, headers, message }] = received as [(typeof received)[0]]
  const timestamp = headers['x-paydirt-timestamp'] as string
  expect(headers['x-paydirt-signature']).toBe(
    `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`,
  )
  expect(Math.abs(Number(timestamp) - now() / 1000)).toBeLessThan(60)
  expect(headers['idempotency-key']).toBe(message.id)
  expect(message.text).toMatch(/^paydirt: warning: the wallet has 20\.000000 USDC/)
  expect(await standingAlerts(house.context)).toMatchObject([{ name: 'wallet_low' }])

  await sandbox.fund(house.wallet, 10_000_000n)
  await Promise.all(both.map(lookAndDeliver))
  await Promise.all(both.map(lookAndDeliver))
  expect(told()).toEqual(['raised wallet_low/wallet', 'ended wallet_low/wallet'])
  expect(await standingAlerts(house.context)).toEqual([])
})

test('a webhook that refuses is asked again until it takes, the beginning before the end', async () => {
  await open({ alerts: { walletBelowUsd: '25', reconcileEveryHours: 0 } })
  const one = alerts()
  status = 500
  await lookAndDeliver(one)
  await one.deliver()
  const tried = received.length
  expect(told()).toEqual(['raised wallet_low/wallet'])
  await sandbox.fund(house.wallet, 10_000_000n)
  await one.look()
  await one.deliver()
  expect(received.length).toBe(tried)
  status = 200
  // The pauses double from half a minute to an hour.
  shiftMs += 2 * hourMs
  await one.deliver()
  await one.deliver()
  expect(told().slice(tried)).toEqual(['raised wallet_low/wallet', 'ended wallet_low/wallet'])
  expect(new Set(received.slice(0, tried + 1).map(({ message }) => message.id)).size).toBe(1)
  await one.deliver()
  expect(received.length).toBe(tried + 2)
})

test('a cap, a missed schedule and a standstill are told from the ledger, and end with it', async () => {
  await open({
    alerts: { walletBelowUsd: '1', reconcileEveryHours: 0, quietHours: 2 },
    budgets: { dayUsd: '0.02' },
    schedules: { nightly: { connector: 'hubspot', object: 'companies', cron: '0 2 * * *' } },
  })
  const { context } = house
  const one = alerts()
  for (let index = 0; index < 5; index += 1)
    house.add('companies', {
      name: `a${index}`,
      profnet_url: `https://www.profnet.com/company/alerted-${index}`,
    })
  expect((await house.sync('companies')).end).toBe('parked')
  await context.database.db
    .insertInto('schedule_turns')
    .values({
      schedule: 'nightly',
      connector: 'hubspot',
      entity: 'companies',
      recipe: null,
      job: '{}',
      cause: 'cron',
      planned_at: context.now(),
      start_by: null,
      stop_at: null,
      state: 'missed',
      not_before: context.now(),
      run_id: null,
      reason: 'it could not begin within its window',
      changed_at: context.now(),
    })
    .execute()
  await lookAndDeliver(one)
  expect(told()).toEqual(['raised cap_reached/day', 'raised schedule_missed/nightly/companies'])
  expect(received.map(({ body }) => body).join()).not.toMatch(/alerted-|profnet/)

  // The next day the parked lookups are due, and no worker is there.
  const [run] = await context.runs.list(1)
  await context.lookups.unpark(run!.id)
  await context.runs.setState(run!.id, 'working')
  await context.database.db
    .updateTable('schedule_turns')
    .set({ state: 'handed_over', run_id: run!.id })
    .execute()
  shiftMs += 3 * hourMs
  await lookAndDeliver(one)
  expect(told().slice(2)).toEqual([
    'raised nothing_written/work',
    'ended cap_reached/day',
    'ended schedule_missed/nightly/companies',
  ])
  await context.runs.setState(run!.id, 'finished')
  await lookAndDeliver(one)
  expect(told().slice(5)).toEqual(['ended nothing_written/work'])
})

test('the ledger is held against the chain by itself, and a difference that stays is told', async () => {
  await open({ alerts: { walletBelowUsd: '1', reconcileEveryHours: 24 } })
  const { db } = house.context.database
  house.add('companies', { name: 'one', profnet_url: 'https://www.profnet.com/company/alert-reconciled' })
  await house.sync('companies')
  const one = alerts()
  await lookAndDeliver(one)
  expect(told()).toEqual([])
  expect(await db.selectFrom('reconciliations').select('differences').execute()).toEqual([{ differences: 0 }])

  const { id } = await db
    .selectFrom('charges')
    .select('id')
    .where('state', '=', 'settled')
    .executeTakeFirstOrThrow()
  await db.updateTable('charges').set({ amount_atomic: 0n }).where('id', '=', id).execute()
  await lookAndDeliver(one)
  expect(told()).toEqual([])
  shiftMs += 24 * hourMs
  await lookAndDeliver(one)
  expect(told()).toEqual(['raised reconciliation_difference/ledger'])
  expect(received[0]?.message.message).toMatch(/differ in 1 payment \(0\.010000 USD\)/)

  await db.updateTable('charges').set({ amount_atomic: 10_000n }).where('id', '=', id).execute()
  shiftMs += 24 * hourMs
  await lookAndDeliver(one)
  expect(told().slice(1)).toEqual(['ended reconciliation_difference/ledger'])
})
