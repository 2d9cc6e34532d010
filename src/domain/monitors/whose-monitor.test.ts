import { expect, test } from 'vitest'
import { whoseMonitor } from './whose-monitor.ts'

const known = {
  declared: new Set(['dach', 'spain', 'new']),
  known: [
    { monitorId: 'm1', name: 'dach' },
    { monitorId: 'm9', name: 'spain' },
  ],
  former: [
    { monitorId: 'm0', name: 'gone' },
    { monitorId: 'm8', name: 'spain' },
  ],
}

test.each([
  ['m1', 'Renamed by somebody', { is: 'ours', name: 'dach' }],
  ['m8', 'spain [paydirt spain]', { is: 'ours', name: 'spain' }],
  ['m0', 'gone [paydirt gone]', { is: 'deleted', name: 'gone' }],
  ['m7', 'new [paydirt new]', { is: 'ours', name: 'new' }],
  ['m7', 'dach [paydirt dach]', { is: 'unknown' }],
  ['m7', 'dach', { is: 'unknown' }],
  ['m7', null, { is: 'unknown' }],
  ['', 'dach [paydirt dach]', { is: 'ours', name: 'dach' }],
  ['', 'dach', { is: 'unknown' }],
  ['', 'other [paydirt other]', { is: 'unknown' }],
  ['', null, { is: 'open' }],
])('a delivery of %s named %s', (id, name, whose) => {
  expect(whoseMonitor({ id, name }, known)).toEqual(whose)
})

test('without declared monitors every delivery counts as before', () => {
  const none = { declared: new Set<string>(), known: [], former: [] }
  expect(whoseMonitor({ id: 'm1', name: 'dach' }, none)).toEqual({ is: 'open' })
})
