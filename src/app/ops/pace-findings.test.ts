import { expect, test } from 'vitest'
import type { SavedPace } from '../service/saved-paces.ts'
import { paceFindings } from './pace-findings.ts'

const known: SavedPace = {
  name: 'data.example:direct',
  perSecond: 4.83,
  windows: [],
  refusedShare: 0.0213,
  savedAt: '2026-11-27T12:00:00.000Z',
}
const said = (change: Partial<SavedPace> = {}) => paceFindings([{ ...known, ...change }])[0]

test('the pace of a service is one that is well, whatever it is', () => {
  expect(said()).toEqual({
    name: 'pace',
    status: 'ok',
    message:
      'data.example:direct: 4.8 requests a second, 2.1 % refused in the last ten minutes of use; learned until 2026-11-27T12:00:00.000Z',
  })
  expect(paceFindings([])).toEqual([])
})

test('limits of other kinds are named beside the rate', () => {
  expect(said({ perSecond: 149.6, atOnce: 6 })?.message).toContain('150 requests a second, 6 at a time, 2.1')
  const windows = [{ lengthMs: 60_000, limit: 300 }]
  expect(said({ windows })?.message).toContain('4.8 requests a second, 300 in 60 s, 2.1')
})
