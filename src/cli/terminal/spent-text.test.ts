import { expect, test } from 'vitest'
import { spentText } from './spent-text.ts'

test('dollars, credits or both are said, and not those that were not paid', () => {
  expect(spentText('0.000000')).toBe('0.000000 USD')
  expect(spentText('0.010000', '0.000000')).toBe('0.010000 USD')
  expect(spentText('0.000000', '10500.000000')).toBe('10500 credits')
  expect(spentText('0.010000', '0.500000')).toBe('0.010000 USD and 0.5 credits')
})
