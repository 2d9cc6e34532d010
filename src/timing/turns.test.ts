import { expect, test } from 'vitest'
import { createTurns } from './turns.ts'

const six = { atOnce: 6, perSecond: 3 }

test('a few turns are had at once, and many three times a second', () => {
  let nowMs = 0
  const turns = createTurns(six, () => nowMs)
  const takenAtMs: number[] = []
  while (nowMs < 10_000) {
    const waitMs = turns.waitMs('hubspot/companies')
    if (waitMs === 0) {
      turns.take('hubspot/companies')
      takenAtMs.push(nowMs)
    } else nowMs += waitMs
  }
  expect(takenAtMs.filter((atMs) => atMs === 0)).toHaveLength(6)
  expect(takenAtMs.length).toBeLessThanOrEqual(6 + 30)
  expect(turns.waitMs('hubspot/contacts')).toBe(0)
  nowMs += 2_000
  expect(turns.waitMs('hubspot/companies')).toBe(0)
})

test('a clock that is set back gives no turn away and takes none', () => {
  let nowMs = 1_000_000
  const turns = createTurns(six, () => nowMs)
  for (let turn = 0; turn < 6; turn += 1) turns.take('g')
  nowMs = 0
  expect(turns.waitMs('g')).toBe(334)
})
