import { describe, expect, test } from 'vitest'
import { capsOf, coverOf, coverText, defaultPrices, pricedSlots, stepPrices } from './prices.ts'

const roomy = capsOf({
  maxPriceAtomic: 10_000n,
  maxPrices: { 'contact.redeem:phone': 300_000n },
})

describe('the prices of the steps', () => {
  test('each stand beside the cap that is in force for it', () => {
    const steps = new Map(stepPrices(defaultPrices, roomy).map((each) => [each.step, each]))
    expect([...steps.keys()]).toEqual(pricedSlots)
    expect(steps.get('person.profile')).toMatchObject({ priceAtomic: 10_000n, capAtomic: 10_000n })
    expect(steps.get('contact.redeem:phone')).toMatchObject({ capAtomic: 300_000n, isStopped: false })
    expect(steps.get('contact.redeem:email-work')).toMatchObject({
      priceAtomic: 150_000n,
      capAtomic: 10_000n,
      isStopped: true,
    })
    expect(steps.get('company.enrich')).toMatchObject({ priceAtomic: undefined, isStopped: false })
  })
})

describe('what a balance covers', () => {
  test('is said for the cheapest step and for the dearest that may be bought', () => {
    const cover = coverOf(599_999n, stepPrices(defaultPrices, roomy))
    expect(coverText(cover)).toBe('enough for 59 lookups at 0.010000, or 1 at 0.300000')
    const small = coverOf(20_000n, stepPrices(defaultPrices, capsOf({ maxPriceAtomic: 10_000n })))
    expect(coverText(small)).toBe('enough for 2 lookups at 0.010000')
  })

  test('is nothing where every price is above its cap, and a cap of zero breaks nothing', () => {
    const none = coverOf(20_000n, stepPrices(defaultPrices, capsOf({ maxPriceAtomic: 0n })))
    expect(none).toBeUndefined()
    expect(coverText(none)).toContain('no step may be bought')
  })
})
