import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../test/support/seed.ts'
import { formatUsd, parseUsd } from './money.ts'

describe('an amount', () => {
  test.each([
    ['0', 0n, '0.000000'],
    ['0.01', 10_000n, '0.010000'],
    ['0.000001', 1n, '0.000001'],
    ['1', 1_000_000n, '1.000000'],
    ['1.5', 1_500_000n, '1.500000'],
    [' 50 ', 50_000_000n, '50.000000'],
    ['007.10', 7_100_000n, '7.100000'],
    // Beyond what a float can hold.
    ['999999999999.999999', 999_999_999_999_999_999n, '999999999999.999999'],
  ])('%j is read as %s and printed as %s', (text, atomic, printed) => {
    expect(parseUsd(text)).toBe(atomic)
    expect(formatUsd(atomic)).toBe(printed)
  })

  test.each([
    '',
    '.5',
    '1.',
    '-1',
    '+1',
    '1e3',
    '0x10',
    '1,5',
    '1 000',
    '0.0000001',
    '1234567890123',
    'NaN',
    '∞',
    '１',
  ])('%j is none', (text) => {
    expect(() => parseUsd(text)).toThrow(RangeError)
  })

  test('below nothing keeps its sign in front', () => {
    expect(formatUsd(-1n)).toBe('-0.000001')
    expect(formatUsd(-1_500_000n)).toBe('-1.500000')
  })

  test('comes back as it was, for any amount', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (amount) => {
        expect(parseUsd(formatUsd(amount))).toBe(amount)
      }),
      { seed: testSeed(), numRuns: 1000 },
    )
  })
})
