import { describe, expect, test } from 'vitest'
import { makeReport } from '../../src/app/reports/report.ts'
import { createMeter } from '../../src/app/context/meter.ts'
import { readCharts } from '../../src/http/desk/model/charts.ts'
import { niceTop } from '../../src/http/desk/view/chart.ts'
import { deleteOldMeasurements, measuredTotals } from '../../src/store/measurements/measurements.ts'
import { addCharge, addLookup, addRun, addTask, desk, minutesAgo, useDesk } from './desk-rows.fixture.ts'

useDesk()

const meterOf = (now: () => Date = desk.now) =>
  createMeter(desk.db, { now, paceOf: async () => 5, onError: () => {} })

async function page(query = ''): Promise<string> {
  return (await desk.browser().ask(`/charts${query}`)).text()
}

/** A paid lookup that took so long. */
async function answered(name: string, at: Date, tookMs: number, sends = 1): Promise<void> {
  const key = await addLookup(name, 'answered', { outcome: 'found' })
  await addCharge(key, 'settled', 10_000n, at)
  await desk.db
    .updateTable('charges')
    .set({ sends, sent_at: at, closed_at: new Date(at.getTime() + tookMs) })
    .where('lookup_key', '=', key as never)
    .execute()
}

describe('the page of charts', () => {
  test('says where there is nothing to show, for each range', async () => {
    for (const [query, words] of [
      ['?range=3h', '3 hours'],
      ['', '24 hours'],
      ['?range=7d', '7 days'],
      ['?range=nonsense', '24 hours'],
    ] as const) {
      const text = await page(query)
      expect(text).toContain(`No paid lookup was answered in these ${words}.`)
      expect(text).toContain(`No request was sent in these ${words}.`)
      expect(text).toContain(`No CRM was called in these ${words}.`)
      expect(text).toContain('No run of the last 12 weeks has paid for anything.')
      expect(text).not.toContain('<figure')
    }
  })

  test('reads the time of a lookup from the ledger, exact to the millisecond', async () => {
    await addRun('r1')
    for (let index = 1; index <= 100; index += 1) await answered(`c${index}`, minutesAgo(20), index * 10)
    await answered('again', minutesAgo(20), 3_600_000, 2)
    const { lookups } = await readCharts(desk.db, desk.now(), '3h')
    expect(lookups.operations).toEqual([
      { operation: 'company.profile', count: 100, p50Ms: 505, p95Ms: expect.closeTo(950.5, 6) },
    ])
    expect(lookups.steps.filter((step) => step !== undefined)).toMatchObject([{ count: 100 }])
    const text = await page('?range=3h')
    expect(text).toContain('505\u00a0ms')
    expect(text).toMatch(/role="img"\s+aria-label="Time of a lookup: in the latest step half took up to/)
    expect(text).toContain('Times in UTC; each point stands for 5 minutes')
  })

  test('adds up what several processes have measured, and what they measured before a restart', async () => {
    const [one, other] = [meterOf(), meterOf()]
    for (let index = 0; index < 18; index += 1) one.request('lookup', 'served')
    one.crmCall('hubspot', 'read', 80)
    other.request('lookup', 'rate_limited')
    other.request('lookup', 'other')
    other.crmCall('hubspot', 'read', 90)
    await one.close()
    await other.close()
    const again = meterOf()
    again.crmCall('hubspot', 'write', 4_000)
    again.exchange('company.profile', 'found', 200)
    await again.close()
    for (const range of ['3h', '24h', '7d'] as const) {
      const { paces, crms } = await readCharts(desk.db, desk.now(), range)
      const step = paces[0]?.steps.findLast((each) => each !== undefined)
      expect(step).toMatchObject({ limitedShare: 0.05, allowedPerSecond: 5 })
      expect(crms).toMatchObject([
        {
          connector: 'hubspot',
          calls: [
            { call: 'read', count: 2 },
            { call: 'write', count: 1 },
          ],
        },
      ])
    }
    expect(await measuredTotals(desk.db, 'exchange')).toMatchObject([
      { name: 'company.profile', part: 'found', count: 1, sum: 0.2 },
    ])
    const text = await page()
    expect(text).toContain('Time of a call to HubSpot')
    expect(text).toContain('5.0\u00a0%')
  })

  test('has a row for each minute and quarter at the most, and deletes those that nothing shows', async () => {
    let nowMs = desk.now().getTime() - 9 * 86_400_000
    const meter = meterOf(() => new Date(nowMs))
    for (; nowMs < desk.now().getTime(); nowMs += 1_800_000) {
      for (let index = 0; index < 20; index += 1) meter.crmCall('salesforce', 'scan', index)
    }
    await meter.close()
    await deleteOldMeasurements(desk.db, desk.now())
    const rows = await desk.db
      .selectFrom('measurements')
      .select((of) => ['span', of.fn.countAll<bigint>().as('rows')])
      .groupBy('span')
      .orderBy('span')
      .execute()
    expect(rows).toEqual([
      { span: 'all', rows: 1n },
      { span: 'minute', rows: 6n },
      { span: 'quarter', rows: 384n },
    ])
    expect(await measuredTotals(desk.db, 'crm_call')).toMatchObject([{ count: 20 * 432 }])
  })

  test('gives the cost of a filled field by week, as the report of its runs does', async () => {
    await addRun('r1', { startedAt: minutesAgo(60), state: 'finished' })
    const key = await addLookup('paid', 'answered', { outcome: 'found' })
    const lost = await addLookup('lost', 'failed')
    await addCharge(key, 'settled', 10_000n, minutesAgo(50))
    await addCharge(lost, 'lost', 10_000n, minutesAgo(50))
    await addTask('r1', 'written', { lookup: key, patch: { a: { set: 1 }, b: { set: 2 }, c: { set: 3 } } })
    const report = await makeReport({ database: { db: desk.db } as never }, { run: 'r1' })
    expect(report.costPerFilledField).toBe('0.006667')
    const { weeks } = await readCharts(desk.db, desk.now(), '24h')
    expect(weeks.weeks).toHaveLength(12)
    expect(weeks.weeks.at(-1)).toBe('2026-11-16')
    expect(weeks.costs).toEqual([{ week: '2026-11-16', currency: 'USD', costAtomic: 20_000n, fields: 3 }])
    const text = await page()
    expect(text).toContain(`$${report.costPerFilledField}`)
    expect(text).toContain('weeks begin on Monday, in UTC')
  })
})

test.each([
  [0, 1],
  [0.05, 0.06],
  [0.4, 0.4],
  [950.5, 1_000],
  [1_001, 2_000],
  [61_000, 80_000],
])('an axis for %d ends at %d', (value, top) => expect(niceTop(value)).toBeCloseTo(top, 9))

test('while the database is away a process counts on, and adds all of it later', async () => {
  const broken = { db: desk.db, isAway: true }
  const meter = createMeter(
    new Proxy(desk.db, {
      get(target, name) {
        if (broken.isAway && name === 'getExecutor') throw new Error('away')
        const value = Reflect.get(target, name) as unknown
        return typeof value === 'function' ? (value as () => unknown).bind(target) : value
      },
    }),
    { now: desk.now, paceOf: async () => 5, onError: () => {} },
  )
  meter.crmCall('hubspot', 'read', 10)
  await expect(meter.save()).rejects.toThrow('away')
  meter.crmCall('hubspot', 'read', 30)
  broken.isAway = false
  await meter.close()
  expect(await measuredTotals(desk.db, 'crm_call')).toMatchObject([{ count: 2, sum: 0.04 }])
})
