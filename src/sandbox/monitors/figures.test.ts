import { expect, test } from 'vitest'
import type { Detection } from './detections.ts'
import { chartOf, readPeriod, statisticsOf } from './figures.ts'

const found = (at: string, signals: number, isTest = false): Detection => ({
  detection_log_id: at,
  monitor_id: 'm',
  detected_at: at,
  is_test: isTest,
  signals: [],
  signal_count: signals,
  company_count: 1,
  deliveries: [{ delivery_id: at, status: 'delivered', attempts: [] }],
})
const detections = [
  found('2026-11-03T23:59:59.999Z', 2),
  found('2026-11-02T12:00:00.000Z', 9, true),
  found('2026-11-01T00:00:00.000Z', 1),
]

test('a chart has every day of its period, tests left out', () => {
  const { series } = chartOf(detections, { from: '2026-10-31', to: '2026-11-03' })
  expect(series.map((day) => [day.date, day.signal_count])).toEqual([
    ['2026-10-31', 0],
    ['2026-11-01', 1],
    ['2026-11-02', 0],
    ['2026-11-03', 2],
  ])
})

test('statistics count what was found and delivered', () => {
  expect(statisticsOf(detections)).toMatchObject({
    detection_count: 2,
    signal_count: 3,
    delivered_count: 2,
    last_detected_at: '2026-11-03T23:59:59.999Z',
  })
  expect(statisticsOf([])).toMatchObject({ detection_count: 0, last_detected_at: null })
})

test.each([
  ['', { from: '2026-10-24', to: '2026-11-22' }],
  ['from=2026-11-01', { from: '2026-11-01', to: '2026-11-22' }],
  ['to=2024-02-29', { from: '2024-01-31', to: '2024-02-29' }],
  ['from=2026-11-23', { code: 40001 }],
  ['from=2020-01-01', { code: 40001 }],
  ['to=2026-02-30', { code: 40001 }],
  ['from=1.11.2026', { code: 40001 }],
])('the period of "%s"', (query, period) => {
  expect(readPeriod(new URLSearchParams(query), new Date('2026-11-22T10:00:00Z'))).toMatchObject(period)
})
