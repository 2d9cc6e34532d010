import { expect, it } from 'vitest'
import { atomicCredits, creditsFromUsd, statedCost, usdFromCredits, wholeCredits } from './credits.ts'

it('counts a credit as one cent', () => {
  expect(creditsFromUsd(10_000n)).toBe(1_000_000n)
  expect(usdFromCredits(1_000_000n)).toBe(10_000n)
})

it('rounds USD and whole credits down', () => {
  expect(usdFromCredits(199n)).toBe(1n)
  expect(wholeCredits(2_999_999n)).toBe(2n)
})

it('reads parts of a credit to the nearest millionth', () => {
  expect(atomicCredits(0.1)).toBe(100_000n)
  expect(atomicCredits(1.0000004)).toBe(1_000_000n)
  expect(atomicCredits(25)).toBe(25_000_000n)
})

it('takes a stated cost only when it can be one', () => {
  expect([0, 1, 2.5, 100_000].map(statedCost)).toEqual([0n, 1_000_000n, 2_500_000n, 100_000_000_000n])
  for (const mistake of [undefined, -5, -1e-9, 1e30, 100_001, NaN, Infinity, -Infinity])
    expect(statedCost(mistake)).toBeUndefined()
})
