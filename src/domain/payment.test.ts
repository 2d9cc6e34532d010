import { expect, test } from 'vitest'
import { currencyOf, openChargeStates, type Protocol } from './payment.ts'

test.each<[Protocol, string]>([
  ['x402', 'USD'],
  ['mpp', 'USD'],
  ['mpp_card', 'USD'],
  ['api_key', 'credit'],
])('a charge by %s counts in %s', (protocol, currency) => {
  expect(currencyOf(protocol)).toBe(currency)
})

test('a charge blocks others for its lookup until it is known to be paid or dead', () => {
  expect(openChargeStates).toEqual(['journaled', 'sent', 'in_doubt'])
})
