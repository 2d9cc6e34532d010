import { expect, test } from 'vitest'
import { foreignHeaders } from './foreign-headers.ts'

test('headers that nothing reads are named, once and in small letters', () => {
  const given = [
    'Host',
    'Content-Type',
    'X-Sig',
    'x-sig',
    'X-Our-Secret',
    'x-forwarded-for',
    'a b',
    'x'.repeat(81),
  ]
  expect(foreignHeaders(given, ['x-our-secret'])).toEqual(['x-sig'])
  expect(
    foreignHeaders(
      Array.from({ length: 500 }, (_, at) => `x-${at}`),
      [],
    ),
  ).toHaveLength(100)
})
