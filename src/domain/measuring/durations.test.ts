import { expect, test } from 'vitest'
import { addTo, countsOf, durationBounds, noCounts, quantileMs } from './durations.ts'

test('a duration is counted under the first bound that it does not exceed', () => {
  expect(countsOf(25).indexOf(1)).toBe(0)
  expect(countsOf(25.1).indexOf(1)).toBe(1)
  expect(countsOf(60_001).indexOf(1)).toBe(durationBounds.length)
})

test('a quantile lies within the bounds of its durations', () => {
  expect(quantileMs(noCounts(), 0.5)).toBeUndefined()
  const counts = noCounts()
  for (let ms = 1; ms <= 1_000; ms += 1) addTo(counts, ms)
  expect(quantileMs(counts, 0.5)).toBeCloseTo(500, -1)
  expect(quantileMs(counts, 0.95)).toBeCloseTo(950, -1)
  expect(quantileMs(countsOf(90_000), 0.95)).toBe(60_000)
})
