import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { createSlots, type Slot } from './slots.ts'

const step = fc.record({
  length: fc.integer({ min: 1, max: 16 }),
  givesBack: fc.nat({ max: 9 }),
  at: fc.nat(),
})

test('no sector is given out twice, and all that is not in use is free', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const slots = createSlots([], 16)
      const used: Slot[] = []
      for (const { length, givesBack, at } of steps) {
        if (givesBack < 5 && used.length > 0) slots.give(used.splice(at % used.length, 1)[0]!)
        else used.push({ start: slots.take(length), length })
        const inUse = used.reduce((sum, each) => sum + each.length, 0)
        expect(slots.free + inUse).toBe(slots.end)
      }
      // Throws where two of them share a sector.
      expect(createSlots(used, 16).free).toBeLessThanOrEqual(slots.free)
    }),
    { seed: testSeed() },
  )
})

test('what small slots have left is room for a large one', () => {
  const slots = createSlots([], 16)
  const wholes = Array.from({ length: 100 }, () => slots.take(16))
  for (const start of wholes) slots.give({ start, length: 16 })
  // Each of the hundred is split in four.
  const parts = Array.from({ length: 400 }, () => slots.take(4))
  expect(slots.end).toBe(1_600)
  for (const start of parts) slots.give({ start, length: 4 })
  for (let count = 0; count < 100; count += 1) slots.take(16)
  expect(slots.end).toBe(1_600)
  slots.take(1)
  expect(slots.end).toBe(1_601)
})
