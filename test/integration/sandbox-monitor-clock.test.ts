import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { useSandbox } from './sandbox-fixture.ts'
import { createCaller, created, openReceiver } from './sandbox-monitors.fixture.ts'

const world = useSandbox()
const call = createCaller(() => world.sandbox.serviceUrl)
let receiver: Awaited<ReturnType<typeof openReceiver>>
beforeAll(async () => void (receiver = await openReceiver()))
afterAll(() => receiver.close())
beforeEach(async () => {
  world.sandbox.faults.set({ deliveryRules: { attempts: 2, pauseMs: 1 }, plan: { max_search_per_page: 100 } })
  const { body } = await call('GET', '/monitors?per_page=100')
  for (const { monitor_id: id } of body.data['monitors'] as { monitor_id: string }[])
    await call('DELETE', `/monitors/${id}`)
  await clock({ at: begin })
  receiver.take()
})

interface Row {
  signal_id: string
  domain: string
  signal_type: string
  detected_at: string
}
const begin = '2026-03-02T00:00:00.000Z'
const end = '2026-03-09T00:00:00.000Z'
const corridor = { froms: ['SE'], tos: ['DE', 'FR', 'GB', 'US', 'PL'] }

const clock = async (order: object) =>
  (await call('POST', '/_sandbox/clock', order)).body as unknown as { at: string; detections: number }
const active = (change: object = {}) =>
  created(call, { status: 'active', webhook_url: receiver.url, filters: corridor, ...change })
const arrived = () => receiver.take().map(({ body }) => (body.signals ?? body.companies) as Row[])
const ids = (rows: readonly Row[]) => rows.map((row) => row.signal_id).sort()

/** Returns the signals of the week that the service's own search of signals shows. */
async function searched(filters: object): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page += 1) {
    const { body } = await call('POST', '/expansions/signals/search', { ...filters, page, per_page: 100 })
    const found = body.data['signals'] as Row[]
    rows.push(...found)
    if (found.length < 100) break
  }
  return rows.filter((row) => row.detected_at > begin && row.detected_at <= end)
}

describe('a clock that is moved on', () => {
  test('has monitors detect what the search of signals shows of that time, a day in a delivery', async () => {
    await active()
    const { at, detections } = await clock({ advanceDays: 7 })
    expect(at).toBe(end)
    const deliveries = arrived()
    expect(deliveries).toHaveLength(detections)
    const days = deliveries.map((rows) => [...new Set(rows.map((row) => row.detected_at.slice(0, 10)))])
    expect(days.every((each) => each.length === 1)).toBe(true)
    expect(days.flat()).toEqual(days.flat().toSorted())
    const expected = await searched(corridor)
    expect(expected.length).toBeGreaterThan(10)
    expect(ids(deliveries.flat())).toEqual(ids(expected))

    // Nothing twice: the clock goes on where it stood, and does not detect by going back.
    expect(await clock({ at: begin })).toMatchObject({ detections: 0 })
    expect(await clock({ at: begin })).toMatchObject({ detections: 0 })
    for (let step = 0; step < 7; step += 1) await clock({ advanceDays: 1 })
    expect(ids(arrived().flat())).toEqual(ids(expected))
  })

  test('keeps to the types, the companies and the status of a monitor', async () => {
    await clock({ advanceDays: 7 })
    const [one] = (await searched(corridor)) as [Row]
    await clock({ at: begin })
    const jobs = await active({ signal_types: ['jobs'] })
    const tracked = await active({ detection_mode: 'company_first', domain_search_ids: [`ds-${one.domain}`] })
    await active({ status: 'paused' })
    // Market entries have no functions.
    await active({ filters: { functions: ['sales'] } })
    await clock({ advanceDays: 7 })
    const received = receiver.take()
    const of = (id: string) =>
      received.filter(({ body }) => body.monitor?.['monitor_id'] === id).map(({ body }) => body)
    const hiring = of(jobs.monitor_id).flatMap(({ signals }) => signals as Row[])
    expect(new Set(hiring.map((row) => row.signal_type))).toEqual(new Set(['hiring']))
    const companies = of(tracked.monitor_id).flatMap((body) => body.companies as Row[])
    expect(new Set(companies.map((row) => row.domain))).toEqual(new Set([one.domain]))
    expect(of(jobs.monitor_id).length + of(tracked.monitor_id).length).toBe(received.length)
  })

  test('leaves the log with what an outage kept back, dated by the clock of this machine', async () => {
    const { monitor_id: id } = await active()
    world.sandbox.faults.set({ deliveryOutage: { next: 1_000, lost: true } })
    const before = new Date().toISOString()
    const { detections } = await clock({ advanceDays: 7 })
    expect(receiver.take()).toEqual([])
    const { body } = await call('GET', `/monitors/${id}/detection-logs?per_page=100`)
    const logs = body.data['logs'] as { detected_at: string; deliveries: { status: string }[] }[]
    expect(logs).toHaveLength(detections)
    for (const { detected_at: at, deliveries } of logs) {
      expect(at >= before && at <= new Date().toISOString()).toBe(true)
      expect(deliveries.map(({ status }) => status)).toEqual(['failed'])
    }
  })
})
