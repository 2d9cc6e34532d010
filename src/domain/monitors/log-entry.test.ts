import { expect, test } from 'vitest'
import { readLogEntry } from './log-entry.ts'
import { readDelivery } from './read-delivery.ts'

const options = { idName: 'detection_log_id', monitorId: 'm1', networkName: 'profnet' }
const signal = { signal_id: 's1', domain: 'acme.example', type: 'news', title: 'Acme moves' }
const meanings = (row: Record<string, unknown>) =>
  readLogEntry({ detection_log_id: 'd1', ...row }, options).read.signals.map(({ meaning }) => meaning)
const delivered = readDelivery({ monitor: { monitor_id: 'm1' }, signals: [signal] }, 'profnet').signals[0]!
  .meaning

test.each([
  ['signals', { signals: [signal] }],
  ['companies with their signals', { companies: [{ domain: 'acme.example', signals: [signal] }] }],
  ['the delivery that was sent', { payload: { signals: [signal], triggered_at: '2026-11-20T10:00:00Z' } }],
  ['the signal itself', { ...signal, id: 'd1' }],
])('an entry that holds %s means what was delivered', (_, row) => {
  expect(meanings(row)).toEqual([delivered])
})

test('an entry has its time and whether it is a test, and one digest for every reading', () => {
  const row = { detection_log_id: 7, detected_at: '2026-11-20T10:00:00Z', is_test: true, signals: [signal] }
  const [one, two] = [readLogEntry(row, options), readLogEntry({ ...row, attempts: 2 }, options)]
  expect(one).toMatchObject({ id: '7', detectedAt: new Date('2026-11-20T10:00:00Z'), read: { isTest: true } })
  expect(two.digest).toBe(one.digest)
  expect(readLogEntry({ detection_log_id: 8 }, options)).toMatchObject({
    detectedAt: null,
    read: { signals: [], isTest: false },
  })
})
