import { expect, it } from 'vitest'
import { atomicCredits, creditsFromUsd, usdFromCredits, wholeCredits } from './credits.ts'

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
