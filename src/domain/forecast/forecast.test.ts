import { describe, expect, test } from 'vitest'
import { forecast, type Means, type Purchase } from './forecast.ts'
import type { Facts } from '../planning/planner.ts'
import type { LookupKey } from '../keys.ts'
import { defaultPrices } from '../planning/prices.ts'
import { builtInRecipes, type Recipe } from '../planning/recipes.ts'
import type { Fact, Identity } from '../record.ts'

const ada = 'profnet.com/in/ada'
const roomy = { otherAtomic: 1_000_000n, bySlot: {} }
const means = (change: Partial<Means> = {}): Means => ({
  prices: defaultPrices,
  caps: roomy,
  inCredits: false,
  known: () => undefined,
  ...change,
})
const contact = builtInRecipes('person', 'contact')
const full = builtInRecipes('person', 'full')

function person(identity: Identity, recipe: Recipe = contact, change: Partial<Means> = {}) {
  const { possible, sure, highAtomic } = forecast({ object: 'person', identity }, recipe, {}, means(change))
  return { possible: cents(possible), sure: cents(sure), high: Number(highAtomic / 10_000n) }
}
const cents = (amounts: ReadonlyMap<string, Purchase>) =>
  Object.fromEntries([...amounts].map(([name, { atomic }]) => [name, Number(atomic / 10_000n)]))

describe('a later lookup', () => {
  test('is named by its key where it is known, else by the next step', () => {
    expect(person({ profileUrl: `https://${ada}` })).toEqual({
      possible: { [`contact.redeem|${ada}|email-work`]: 15, [`contact.redeem|${ada}|phone`]: 30 },
      sure: { [`contact.redeem|${ada}|email-work`]: 15, [`contact.redeem|${ada}|phone`]: 30 },
      high: 45,
    })
    const first = 'contact.lookup|email:ada@acme.example'
    expect(person({ email: 'Ada@acme.example' }, full)).toEqual({
      possible: {
        [first]: 1,
        [`person.profile behind ${first}`]: 1,
        [`company.profile behind ${first}`]: 1,
        [`contact.redeem:phone behind ${first}`]: 30,
      },
      sure: { [first]: 1 },
      high: 33,
    })
  })

  test('is nothing where the ledger has it', () => {
    const nothing: Fact = { outcome: 'not_found', data: null, priceAtomic: 0n }
    const known = (key: LookupKey) => (key.endsWith('|phone') ? nothing : undefined)
    expect(person({ profileUrl: ada }, contact, { known })).toMatchObject({ high: 15 })
  })

  test('counts with its cap where the price is not known, and is not sure then; a price above its cap counts as it is', () => {
    const caps = { otherAtomic: 10_000n, bySlot: { 'contact.redeem:phone': 300_000n } }
    expect(person({ profileUrl: ada }, contact, { caps })).toMatchObject({ high: 45 })
    const company = forecast(
      { object: 'company', identity: { domain: 'acme.example' } },
      builtInRecipes('company', 'full'),
      {},
      means(),
    )
    expect(cents(company.sure)).toEqual({})
    expect(company.highAtomic).toBe(1_020_000n)
  })

  test('with direct access is refused without a known price, and sure only where a miss costs too', () => {
    const credits = person({ profileUrl: ada }, full, { inCredits: true })
    expect(credits).toMatchObject({ sure: { [`person.profile|${ada}`]: 1 }, high: 47 })
    expect(Object.values(person({ email: 'ada@acme.example' }, contact, { inCredits: true }).sure)).toEqual([
      0,
    ])
  })
})

describe('a ceiling', () => {
  test.each([
    [10n, 1],
    [16n, 16],
    [30n, 16],
    [31n, 31],
    [45n, 31],
    [46n, 46],
    [99n, 46],
  ])('of %i cents leaves %i', (ceiling, high) => {
    const recipe = { ...contact, priceCeilingAtomic: ceiling * 10_000n }
    const named = { firstName: 'Ada', lastName: 'Byron', domain: 'acme.example' }
    expect(person(named, recipe).high).toBe(high)
  })

  test('skips a step above it, and the step after it is the next one', () => {
    const prices = { ...defaultPrices, 'contact.redeem:email-work': 500_000n }
    const recipe = { ...contact, priceCeilingAtomic: 300_000n }
    expect(person({ profileUrl: ada }, recipe, { prices })).toEqual({
      possible: { [`contact.redeem|${ada}|phone`]: 30 },
      sure: { [`contact.redeem|${ada}|phone`]: 30 },
      high: 30,
    })
  })
})

test('an early end makes sure of the next step alone', () => {
  const recipe = { ...contact, stopWhen: ['email', 'profnet_url'] }
  expect(person({ profileUrl: ada }, recipe)).toMatchObject({
    sure: { [`contact.redeem|${ada}|email-work`]: 15 },
    high: 45,
  })
})

test('what the record has cost already counts against the ceiling', () => {
  const recipe: Recipe = { ...contact, priceCeilingAtomic: 460_000n }
  const spent: Fact = { outcome: 'found', data: {}, priceAtomic: 20_000n }
  const high = (facts: Facts) =>
    forecast({ object: 'person', identity: { profileUrl: ada } }, recipe, facts, means()).highAtomic
  expect(high({})).toBe(450_000n)
  expect(high({ 'person.profile': spent })).toBe(150_000n)
})
