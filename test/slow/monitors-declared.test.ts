import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { applyMonitors } from '../../src/app/monitors/apply-monitors.ts'
import { compareMonitors, readMonitors } from '../../src/app/monitors/compare-monitors.ts'
import { openPurse } from '../../src/app/signals/buying/purse.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { knownMonitors } from '../../src/store/monitors/declared-monitors.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { openHouse, type House } from '../support/house.ts'

let sandbox: Sandbox
let house: House
const signal = new AbortController().signal

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const spain = {
  detection_mode: 'signal_first',
  signal_types: ['expansions'],
  filters: { tos: ['ES'] },
  webhook: 'auto',
}

async function open(monitors: Record<string, object>, dataDir?: string) {
  house = await openHouse(sandbox, {
    env: {
      PAYDIRT_API_KEY: API_KEY,
      PAYDIRT_PUBLIC_URL: 'https://paydirt.acme.example',
      PAYDIRT_MONITOR_SECRET: 'never-to-be-shown',
      ...(dataDir === undefined ? {} : { PAYDIRT_DATA_DIR: dataDir }),
    },
    config: {
      payment: {
        maxPriceUsd: '0.05',
        maxPricesUsd: Object.fromEntries(operations.map((name) => [name, '0.05'])),
      },
      monitors,
    } as never,
  })
}

const operations = [
  'company.search',
  'monitor.list',
  'monitor.read',
  'monitor.create',
  'monitor.update',
  'monitor.delete',
]

const plan = () => compareMonitors(house.context, { signal })
async function apply(options: { prune?: boolean; replace?: boolean } = {}, budgetAtomic = 1_000_000n) {
  const purse = await openPurse(house.context, {
    budget: 'monitors/companies',
    place: 'monitors',
    budgetAtomic,
    signal,
  })
  const { steps } = await compareMonitors(house.context, { signal, purse }).finally(() => purse.close())
  return applyMonitors(house.context, steps, { prune: false, replace: false, signal, ...options })
}
const ours = async () => {
  const monitors = await readMonitors(house.context, signal)
  return monitors.filter(({ fields }) => String(fields['name']).includes('[paydirt '))
}
/** Returns what the ledger says of the last comparison, as the desk, alerts and `doctor` read it. */
const differs = async () => (await knownMonitors(house.context.database.db)).map((each) => each.differs)
async function clear() {
  for (const { id } of await readMonitors(house.context, signal)) await direct('DELETE', `/monitors/${id}`)
}
async function direct(method: string, path: string, body?: object) {
  const answer = await fetch(`${sandbox.serviceUrl}${path}`, {
    method,
    headers: { 'x-api-key': API_KEY, 'user-agent': 'a-person/1', 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return ((await answer.json()) as { data: Record<string, string> }).data
}

test('a declared monitor is made once, compared field by field, and restored when somebody changes it', async () => {
  await open({ spain })
  expect((await plan()).steps).toMatchObject([{ do: 'create', name: 'spain' }])
  expect(await apply()).toMatchObject([{ state: 'done' }])
  expect(await differs()).toEqual([false])
  const [made] = await ours()
  expect(made?.fields).toMatchObject({
    name: 'spain [paydirt spain]',
    status: 'active',
    filters: { tos: ['ES'] },
    webhook_url: 'https://paydirt.acme.example/hooks/monitor',
  })
  const { byEndpoint } = sandbox.stats()
  expect(await apply()).toMatchObject([{ state: 'nothing', id: made!.id }])
  expect(sandbox.stats().byEndpoint).toEqual({
    ...byEndpoint,
    monitor_list: byEndpoint.monitor_list! + 1,
    // Free: the plan's limits.
    profile: byEndpoint.profile! + 1,
  })

  await direct('PATCH', `/monitors/${made!.id}`, { filters: { tos: ['FR'] }, status: 'paused' })
  const { steps } = await plan()
  expect(steps).toMatchObject([
    {
      do: 'update',
      changes: [
        { field: 'filters', declared: { tos: ['ES'] }, shown: { tos: ['FR'] } },
        { field: 'status', declared: 'active', shown: 'paused' },
      ],
    },
  ])
  expect(JSON.stringify(steps)).not.toContain('never-to-be-shown')
  expect(await differs()).toEqual([true])
  expect(await apply()).toMatchObject([{ state: 'done' }])
  expect(await differs()).toEqual([false])
  expect((await plan()).steps).toMatchObject([{ do: 'nothing' }])
  await clear()
})

test('a ledger that was lost finds its monitors by their mark, and foreign ones are never touched', async () => {
  await open({ spain })
  await direct('POST', '/monitors', {
    name: 'Theirs',
    detection_mode: 'signal_first',
    signal_types: ['jobs'],
  })
  await apply()
  await house.close()
  await open({ spain })
  expect(await plan()).toMatchObject({ steps: [{ do: 'nothing', name: 'spain' }], foreign: 1 })
  await house.close()
  await open({})
  expect((await plan()).steps).toMatchObject([{ do: 'delete', name: 'spain' }])
  expect(await apply()).toMatchObject([{ state: 'left', reason: expect.stringContaining('--prune') }])
  expect(await apply({ prune: true })).toMatchObject([{ state: 'done' }])
  expect((await readMonitors(house.context, signal)).map(({ fields }) => fields['name'])).toEqual(['Theirs'])
  await clear()
})

test('another detection_mode needs --replace, which makes a new one before the old one goes', async () => {
  await open({ spain })
  await apply()
  const [before] = await ours()
  await house.close()
  await open({
    spain: {
      ...spain,
      detection_mode: 'company_first',
      companies: ['birch-dental.example', 'ds-kestrel-textiles.example'],
    },
  })
  const open1 = await plan()
  expect(open1.open).toEqual([{ monitor: 'spain', companies: 1 }])
  expect(await apply()).toMatchObject([{ state: 'left', reason: expect.stringContaining('--replace') }])
  expect(await apply({ replace: true })).toMatchObject([{ state: 'done' }])
  const [after, ...others] = await ours()
  expect(others).toEqual([])
  expect(after?.id).not.toBe(before?.id)
  expect(after?.fields['domain_search_ids']).toEqual([
    'ds-birch-dental.example',
    'ds-kestrel-textiles.example',
  ])
  expect((await plan()).steps).toMatchObject([{ do: 'nothing' }])
  await clear()
})

test('one that was deleted at the service is made again', async () => {
  await open({ spain })
  await apply()
  await clear()
  expect((await plan()).steps).toMatchObject([{ do: 'create' }])
  expect(await apply()).toMatchObject([{ state: 'done' }])
  expect(await ours()).toHaveLength(1)
  await clear()
})
