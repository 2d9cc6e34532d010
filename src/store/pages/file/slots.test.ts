import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../../../test/support/seed.ts'
import { createSlots, type Slot } from './slots.ts'

const step = fc.record({
  length: fc.integer({ min: 1, max: 16 }),
  does: fc.nat({ max: 12 }),
  at: fc.nat(),
})

test('no sector is given out twice, and all that is not in use is free', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const slots = createSlots([], 16)
      const used: Slot[] = []
      for (const { length, does, at } of steps) {
        const before = at % (slots.end + 1)
        if (does < 5 && used.length > 0) slots.give(used.splice(at % used.length, 1)[0]!)
        else if (does < 9) used.push({ start: slots.take(length), length })
        else if (does < 11) {
          const start = slots.takeBefore(before, length)
          if (start !== undefined) used.push({ start, length })
          expect(start ?? -1).toBeLessThan(before)
        } else if (does === 11) slots.merge()
        else slots.cut(used.reduce((end, each) => Math.max(end, each.start + each.length), 0))
        const inUse = used.reduce((sum, each) => sum + each.length, 0)
        expect(slots.free + inUse).toBe(slots.end)
      }
      // Throws where two of them share a sector.
      expect(createSlots(used, 16).free).toBeLessThanOrEqual(slots.free)
    }),
    { seed: testSeed() },
  )
})

test('what small slots have left is room for large ones', () => {
  const slots = createSlots([], 16)
  const take = (count: number, length: number) =>
    Array.from({ length: count }, () => ({ start: slots.take(length), length }))
  for (const whole of take(1_000, 16)) slots.give(whole)
  // Each stands in what whole ones have left.
  const parts = take(3_500, 4)
  expect(slots.end).toBe(16_000)
  for (const part of parts) slots.give(part)
  take(1_000, 16)
  expect(slots.end).toBe(16_000)
  slots.take(1)
  expect(slots.end).toBe(16_001)
})

test('pages of nearly one size, compressed and written whole again and again, leave little room between them', () => {
  const slots = createSlots([], 16)
  const pages: Slot[] = []
  const whole: number[] = []
  for (let turn = 0; turn < 20_000; turn += 1) {
    const page = turn % 2 ? pages.length : Math.floor((pages.length * (turn % 7)) / 7)
    if (pages[page]?.length === 16) continue
    if (pages[page]) slots.give(pages[page])
    pages[page] = { start: slots.take(16), length: 16 }
    whole.push(page)
    // More wait at one time than at another: the room of many whole pages is that of compressed ones then.
    if (whole.length < (turn % 4_000 < 1_500 ? 1_500 : 300)) continue
    for (const each of whole.splice(0, 200)) {
      const length = each % 9 === 0 ? 12 : 11
      const before = pages[each]!
      pages[each] = { start: slots.take(length), length }
      slots.give(before)
    }
  }
  expect(pages.length).toBeGreaterThan(9_000)
  expect(slots.free).toBeLessThan(0.05 * slots.end)
})

test('room before a place is that of the same size, of a run, or of a larger slot; what is cut off is not free', () => {
  const slots = createSlots(
    [
      { start: 0, length: 10 },
      { start: 15, length: 5 },
      { start: 60, length: 10 },
      { start: 75, length: 10 },
    ],
    16,
  )
  // Free: 10 to 15, 20 to 60 and 70 to 75.
  expect([slots.free, slots.end]).toEqual([50, 85])
  expect(slots.takeBefore(70, 5)).toBe(10)
  expect(slots.takeBefore(70, 5)).toBe(20)
  expect(slots.takeBefore(20, 5)).toBeUndefined()
  slots.give({ start: 75, length: 10 })
  slots.cut(70)
  expect([slots.free, slots.end]).toEqual([35, 70])
  expect(slots.take(16)).toBe(25)
})

test('free room of which the end is cut off is not given out beyond it', () => {
  const slots = createSlots(
    [
      { start: 0, length: 10 },
      { start: 100, length: 10 },
    ],
    16,
  )
  slots.give({ start: 100, length: 10 })
  slots.merge()
  slots.cut(50)
  expect([slots.free, slots.end]).toEqual([40, 50])
  // The next one would begin at 42 and have a part of what comes at 50.
  expect([1, 2, 3].map(() => slots.take(16))).toEqual([10, 26, 50])
})
