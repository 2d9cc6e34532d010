import { expect, test } from 'vitest'
import { aboveCapText } from './above-cap.ts'

test('a price is refused in the same words for one lookup and for a batch: step, price, cap, and what allows it', () => {
  const phone = 'contact.redeem:phone' as const
  const texts = [1, 2, 3, 4].map((count) =>
    aboveCapText(
      Array.from({ length: count }, () => phone),
      { priceAtomic: 300_000n * BigInt(count), capAtomic: 10_000n * BigInt(count) },
    ),
  )
  expect(new Set(texts)).toEqual(
    new Set([
      "one lookup of contact.redeem:phone costs 0.300000 USD, above its cap of 0.010000. To allow it, set in paydirt.config.ts: payment: { maxPricesUsd: { 'contact.redeem:phone': '0.30' } }. PAYDIRT_MAX_PRICE_USD is the cap of every step without one of its own",
    ]),
  )
})

test('of several steps in one request each is named', () => {
  const text = aboveCapText(['contact.redeem:phone', 'contact.redeem:email-work'], {
    priceAtomic: 450_000n,
    capAtomic: 20_000n,
  })
  expect(text).toMatch(
    /^contact\.redeem:phone, contact\.redeem:email-work: the price of 0\.450000 USD together/,
  )
  expect(text).toContain('maxPricesUsd')
})
