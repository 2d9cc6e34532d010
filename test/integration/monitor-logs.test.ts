import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { applyMonitors } from '../../src/app/monitors/apply-monitors.ts'
import { catchUp } from '../../src/app/monitors/catch-up.ts'
import { compareMonitors } from '../../src/app/monitors/compare-monitors.ts'
import { readKnownMonitors } from '../../src/app/monitors/known-monitors.ts'
import { createAlerts } from '../../src/app/ops/alerts.ts'
import { whoseMonitor } from '../../src/domain/monitors/whose-monitor.ts'
import { builtInRecipes } from '../../src/domain/planning/recipes.ts'
import { createMonitor } from '../../src/producers/monitor.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createMonitorDeliveries } from '../../src/store/messages/monitor-deliveries.ts'
import { knownMonitors } from '../../src/store/monitors/declared-monitors.ts'
import { watchedMonitors } from '../../src/store/monitors/log-reads.ts'
import { monitorsState } from '../../src/store/monitors/monitors-state.ts'
import { openHouse, type House } from '../support/house.ts'

let sandbox: Sandbox
let house: House
const signal = new AbortController().signal

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const operations = ['list', 'read', 'create', 'update', 'delete', 'logs'].map((name) => `monitor.${name}`)

async function open(name: string) {
  let ahead = 0
  house = await openHouse(sandbox, {
    env: { PAYDIRT_API_KEY: API_KEY },
    config: {
      payment: {
        maxPriceUsd: '0.05',
        maxPricesUsd: Object.fromEntries(operations.map((each) => [each, '0.05'])),
      },
      monitors: { [name]: { detection_mode: 'signal_first', signal_types: ['expansions'] } },
    } as never,
    overrides: { now: () => new Date(Date.now() + ahead) },
  })
  const { context } = house
  const { steps } = await compareMonitors(context, { signal })
  await applyMonitors(context, steps, { prune: false, replace: false, signal })
  const [known] = await knownMonitors(context.database.db)
  const worked: string[] = []
  const monitor = createMonitor({
    deliveries: createMonitorDeliveries(context.database.db, context),
    index: context.recordIndex,
    onDemand: { request: async () => [] },
    whose: async (given) => whoseMonitor(given, await readKnownMonitors(context)),
    takeMatch: async (_, signals) => (worked.push(...signals.map(({ title }) => title)), true),
    connectors: [],
    recipes: builtInRecipes,
    recipe: 'profile',
    networkName: 'profnet',
    now: context.now,
    onError: (error) => {
      throw error
    },
  })
  const id = known!.monitorId
  return {
    id,
    worked,
    detect: (signals: object[]) => control('deliver', { monitor_id: id, signals }),
    deliver: (signals: object[], times: object = {}) =>
      monitor.receive(JSON.stringify({ monitor: { monitor_id: id }, signals, ...times })),
    async work() {
      while ((await monitor.work()) > 0);
      return worked.toSorted()
    },
    later: (ms: number) => void (ahead += ms),
    catchUp: (options: object = {}) => catchUp(context, { signal, isForced: true, ...options }),
    outcomes: async () =>
      (await createMonitorDeliveries(context.database.db, context).outcomes()).map(
        ({ outcome, deliveries }) => `${outcome} ${deliveries}`,
      ),
  }
}

const aSignal = (id: number) => ({
  signal_id: `s${id}`,
  domain: `company-${id % 5}.example`,
  title: `t${id}`,
})
const titles = (ids: number[]) => ids.map((id) => `t${id}`).toSorted()
const upTo = (count: number) => Array.from({ length: count }, (_, id) => id)

async function control(order: string, body: object) {
  const answer = await fetch(`${sandbox.serviceUrl}/_sandbox/monitors/${order}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  expect(answer.status).toBe(200)
  return answer.json() as Promise<Record<string, unknown>>
}
async function change(id: string, method: string, body?: object) {
  const answer = await fetch(`${sandbox.serviceUrl}/monitors/${id}`, {
    method,
    headers: { 'x-api-key': API_KEY, 'user-agent': 'a-person/1', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(answer.status).toBe(200)
}

test('what was not delivered is worked from the log, once, and what was is not', async () => {
  const { detect, deliver, work, catchUp: read, outcomes, worked, later } = await open('dach')
  // More than a page of the log.
  for (const id of upTo(60)) await detect([aSignal(id)])
  for (const id of upTo(60).filter((each) => each % 3 === 0)) await deliver([aSignal(id)])
  expect(await work()).toHaveLength(20)
  const missing = { monitor: 'dach', entries: 60, received: 20, missing: 40, test: 0, problem: null }
  expect(await read({ isPlan: true })).toMatchObject([missing])
  expect(await work()).toHaveLength(20)
  expect(await read()).toMatchObject([missing])
  expect(await work()).toEqual(titles(upTo(60)))
  expect(await outcomes()).toEqual(['missed 40', 'worked 20'])

  // A delivery that comes all the same says nothing new, and the log is not compared again.
  await deliver([aSignal(1)])
  expect(await read()).toMatchObject([{ entries: 0, missing: 0 }])
  await work()
  expect(worked).toHaveLength(60)
  expect(await outcomes()).toEqual(['missed 40', 'repeated 1', 'worked 20'])

  // Two hours later the position has moved: one page is enough.
  later(2 * 3_600_000)
  const before = sandbox.stats().byEndpoint['monitor_logs'] ?? 0
  await detect([aSignal(60)])
  await read()
  expect((await work()).length).toBe(61)
  expect((await monitorsState(house.context.database.db)).monitors).toMatchObject([
    { name: 'dach', status: 'active', log: { entries: 61, problem: null }, differs: false },
  ])
  expect((sandbox.stats().byEndpoint['monitor_logs'] ?? 0) - before).toBeLessThanOrEqual(4)
})

test('entries on their way are left, a process that was killed goes on, and the kill switch holds', async () => {
  const { id, detect, work, catchUp: read, later, outcomes } = await open('spain')
  await detect([aSignal(1)])
  expect(await read({ graceMs: 60_000 })).toMatchObject([{ entries: 0 }])
  later(61_000)
  await house.context.spendSwitch.stop('by the test')
  const [stopped] = await read()
  expect(stopped).toMatchObject({ monitor: 'spain', entries: 0, problem: expect.any(String) })
  expect((await monitorsState(house.context.database.db)).monitors[0]?.log.problem).toBe(stopped?.problem)
  await house.context.spendSwitch.resume()
  // Killed after the page was compared, and before the position: everything is known by the next reading.
  expect(await read()).toMatchObject([{ missing: 1, problem: null }])
  await house.context.database.db.updateTable('monitor_log_reads').set({ position: null }).execute()
  expect(await read()).toMatchObject([{ entries: 0, missing: 0, problem: null }])
  expect(await work()).toEqual(['t1'])
  expect(await outcomes()).toEqual(['missed 1'])
  // Not due yet: another process has read it.
  expect(await catchUp(house.context, { signal, everyMs: 3_600_000 })).toEqual([])
  expect(id).not.toBe('')
})

test('alerts tell of a monitor that was stopped, changed or deleted there, and of silence', async () => {
  const { id, detect, catchUp: read, later } = await open('france')
  const alerts = createAlerts(house.context, { signal })
  const standing = async () => {
    await alerts.look()
    const rows = await house.context.database.db
      .selectFrom('alerts')
      .select(['condition', 'subject'])
      .where('ended_at', 'is', null)
      .where('condition', 'like', 'monitor%')
      .orderBy('condition')
      .execute()
    return rows.map(({ condition, subject }) => `${condition} ${subject}`)
  }
  for (const each of upTo(8)) await detect([aSignal(each)])
  await read()
  expect(await standing()).toEqual([])
  await change(id, 'PATCH', { status: 'inactive' })
  await read()
  expect(await standing()).toEqual(['monitor_drift france', 'monitor_stopped france'])
  await change(id, 'PATCH', { status: 'active' })
  await read()
  expect(await standing()).toEqual([])
  later(3_700_000)
  await read()
  expect(await standing()).toEqual(['monitor_silent france'])
  expect(await watchedMonitors(house.context.database.db, ['france'])).toMatchObject([{ status: 'active' }])
  await change(id, 'DELETE')
  await read()
  expect(await standing()).toEqual(['monitor_drift france', 'monitor_stopped france'])
})
