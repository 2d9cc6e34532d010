import { expect, test } from 'vitest'
import { parseNumber } from './number.ts'

test.each<[string, string | undefined, number | undefined]>([
  ['1.000', 'DE', 1_000],
  ['1.000', 'Germany', 1_000],
  ['1.000', 'BR', 1_000],
  ['1.000', 'US', 1],
  ['1.000', undefined, 1],
  ['1.000', 'Atlantis', 1],
  ['1.234.567', undefined, 1_234_567],
  ['1.234,5', 'DE', 1_234.5],
  ['1,5', 'DE', 1.5],
  ['1,5', 'US', undefined],
  ['1,000', 'US', 1_000],
  ['1,000', undefined, 1_000],
  ['12 000', 'FR', 12_000],
  ['12\u202f000', undefined, 12_000],
  ["12'000", 'CH', 12_000],
  ['12.5', 'DE', 12.5],
  ['-3', undefined, -3],
  ['-0', undefined, 0],
  ['1e3', undefined, 1_000],
  ['1e999', undefined, undefined],
  ['11-50', undefined, undefined],
  ['', undefined, undefined],
  ['1'.repeat(100), undefined, undefined],
])('%j in %s is %s', (text, country, number) => {
  expect(parseNumber(text, country)).toBe(number)
})
