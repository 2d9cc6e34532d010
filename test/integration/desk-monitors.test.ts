import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDeskMonitors, type DeskMonitors } from '../../src/app/web/watching/desk-monitors.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { keepMonitor } from '../../src/store/monitors/declared-monitors.ts'
import { createMatches } from '../../src/store/matches/matches.ts'
import { createMonitorDeliveries } from '../../src/store/messages/monitor-deliveries.ts'
import { openHouse, type House } from '../support/house.ts'
import { openBareDesk, type BareDesk } from './desk-fixture.ts'

const matches = 30
const spain = { detection_mode: 'signal_first', signal_types: ['expansions'], filters: { tos: ['ES'] } }
let sandbox: Sandbox
let house: House
let monitors: DeskMonitors
let desk: BareDesk

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openHouse(sandbox, {
    env: { PAYDIRT_API_KEY: API_KEY, PAYDIRT_MONITOR_SECRET: 'never-to-be-shown' },
    config: {
      payment: { maxPricesUsd: { 'monitor.list': '0.05', 'monitor.update': '0.05', 'monitor.read': '0.05' } },
      monitors: { spain, portugal: { ...spain, filters: { tos: ['PT'] } } },
    } as never,
  })
  monitors = createDeskMonitors(house.context, new AbortController().signal)
  desk = await openBareDesk({ ports: { monitors } })
})
afterAll(async () => {
  await desk.close()
  await house.close()
  await sandbox.stop()
})

const page = async (who: Awaited<ReturnType<BareDesk['as']>>, path: string) => (await who.ask(path)).text()

/** Makes a monitor at the service as apply does, and returns its id. */
async function make(): Promise<string> {
  const answer = await fetch(`${sandbox.serviceUrl}/monitors`, {
    method: 'POST',
    headers: { 'x-api-key': API_KEY, 'user-agent': 'a-person/1', 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'spain [paydirt spain]', ...spain, status: 'active' }),
  })
  const { data } = (await answer.json()) as { data: Record<string, string> }
  return data['monitor_id']!
}

test('a page shows deliveries by outcome and matches a page at a time, and asks the service nothing', async () => {
  const { context } = house
  const { db } = context.database
  const id = await make()
  await keepMonitor(db, 'spain', id, context.now())
  const deliveries = createMonitorDeliveries(db, context)
  for (const digest of ['a', 'a', 'b']) {
    await deliveries.add(digest, '{}')
    await deliveries.finish(digest, { records: 0, unknown: 0, reason: null, outcome: 'malformed' })
  }
  const store = createMatches(db, context)
  for (let at = 0; at < matches; at += 1)
    await store.take(
      {
        id: `r${at}`,
        monitor: 'spain',
        company: { serviceId: null, identity: { domain: `c${at}.example` }, values: {} },
        identities: [{ kind: 'domain', value: `c${at}.example` }],
        signals: [],
      },
      context.now(),
    )
  await store.end('r0', 'worked', 'done')
  const { requests } = { requests: JSON.stringify(sandbox.stats().byEndpoint) }
  const vera = await desk.as('vera')
  const all = await page(vera, '/monitors')
  expect(all).toContain('not made yet')
  expect(all).toContain('Deliveries of others')
  const first = await page(vera, '/monitors/spain')
  expect(first.match(/href="\/runs\/r\d+"/g)).toHaveLength(25)
  expect(first).toMatch(/29 waiting[\s\S]*1 worked|1 worked[\s\S]*29 waiting/)
  expect((await page(vera, '/monitors/spain?page=2')).match(/href="\/runs\/r\d+"/g)).toHaveLength(5)
  expect((await vera.ask('/monitors/nothing')).status).toBe(404)
  expect(JSON.stringify(sandbox.stats().byEndpoint)).toBe(requests)
})

test('operators compare, pause and resume, with a token, and the audit log knows who', async () => {
  const [vera, otto] = [await desk.as('vera'), await desk.as('otto')]
  expect(await page(vera, '/monitors/spain')).not.toMatch(/action="\/monitors/)
  expect((await vera.ask('/monitors/spain/pause', { form: {} })).status).toBe(403)
  expect((await otto.ask('/monitors/spain/pause', { form: { _csrf: 'wrong' } })).status).toBe(403)
  expect((await otto.ask('/monitors/nothing/pause', { form: {} })).status).toBe(404)
  expect(monitors.job()).toBeUndefined()

  const act = async (path: string) => {
    const begun = await otto.ask(path, { form: {} })
    expect(begun.status).toBe(303)
    await monitors.idle()
    return monitors.job()?.ended
  }
  expect(await act('/monitors/spain/pause')).toMatchObject({
    isDone: true,
    text: expect.stringContaining('The settings say active') as string,
  })
  expect(await act('/monitors/compare')).toMatchObject({ isDone: true })
  const shown = await page(vera, '/monitors/spain')
  expect(shown).toContain('Differences')
  expect(shown).toContain('&quot;paused&quot;')
  expect(await act('/monitors/spain/resume')).toMatchObject({ isDone: true })
  expect(await page(vera, '/monitors/spain')).not.toContain('Differences')
  // One that was not made yet.
  expect(await act('/monitors/portugal/pause')).toMatchObject({ isDone: false })
  expect(await page(vera, '/monitors')).not.toContain('never-to-be-shown')

  const noted = (await desk.audit.list(20)).filter(({ action }) => action.startsWith('monitors.'))
  expect(noted.toReversed().map(({ action, target, actor }) => [action, target, actor])).toEqual([
    ['monitors.pause', 'spain', 'otto'],
    ['monitors.ended', 'spain', 'otto'],
    ['monitors.compare', undefined, 'otto'],
    ['monitors.ended', undefined, 'otto'],
    ['monitors.resume', 'spain', 'otto'],
    ['monitors.ended', 'spain', 'otto'],
    ['monitors.pause', 'portugal', 'otto'],
  ])
})

test('a config without a monitor says what to do', async () => {
  const bare = await openBareDesk()
  try {
    expect(await page(await bare.as('vera'), '/monitors')).toContain('Name one under monitors')
  } finally {
    await bare.close()
  }
})
