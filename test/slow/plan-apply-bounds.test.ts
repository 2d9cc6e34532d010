import { describe, expect, test } from 'vitest'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { DIRECTORY_SIZE, member, type Member } from '../../src/sandbox/data/directory.ts'
import { createDice, type Dice } from '../../src/sandbox/random.ts'
import { isFullSize } from '../support/full-size.ts'
import { openHouse } from '../support/house.ts'
import { testSeed } from '../support/seed.ts'

useContactHouse()
import {
  config,
  type Row,
  byUrl,
  byName,
  byCompany,
  byEmail,
  byPhone,
  somebody,
  hasBoth,
  hasNoMail,
  isUnknown,
  sandbox,
  house,
  enrich,
  planAndApply,
  onChain,
  cents,
  useContactHouse,
} from './plan-apply-contact.fixture.ts'

describe('whatever is planned, what is paid stays inside', () => {
  const recipes = ['contact', 'full', 'profile', 'capped', 'dear', 'either', 'private', 'alike']
  const ways = [byUrl, byName, byCompany, byEmail, byPhone]

  test.each(isFullSize ? [0, 1, 2, 3, 4, 5] : [0, 1])('mixture %i', async (number) => {
    const dice = createDice(`mixture ${testSeed()} ${number}`)
    const crowd = Array.from({ length: 6 }, () => member(dice.integer(0, DIRECTORY_SIZE - 1)))
    const row = () => mixed(dice, dice.pick(crowd))
    // A part of them is in the ledger from another recipe.
    await enrich(Array.from({ length: 4 }, row), dice.pick(recipes))
    const recipe = dice.pick(recipes)
    const rows = Array.from({ length: 12 }, row)
    const { low, high, paid } = await planAndApply(house, rows, recipe, onChain)
    expect(paid).toBeGreaterThanOrEqual(low)
    expect(paid).toBeLessThanOrEqual(high)
  })

  function mixed(dice: Dice, one: Member): Row {
    return { ...dice.pick(ways)(one), ...(dice.percent(30) ? dice.pick(ways)(one) : {}) }
  }
})

test('with direct access nothing is sure that is only charged when it is found, and a match is paid as it comes', async () => {
  const direct = await openHouse(sandbox, {
    config,
    env: { PAYDIRT_API_KEY: API_KEY, PAYDIRT_API_KEY_HEADER: API_KEY_HEADER },
  })
  const spent = async () => BigInt(sandbox.account(API_KEY)?.spent ?? 0) * 10_000n
  try {
    const [one, other] = [somebody(hasBoth), somebody(isUnknown)]
    const contact = await planAndApply(direct, [byName(one), byName(other)], 'contact', spent)
    expect(contact).toEqual({ low: 0n, high: cents(92), paid: cents(46) })
    const mail = await planAndApply(direct, [byUrl(somebody(hasNoMail))], 'contact', spent)
    expect([mail.low, mail.high]).toEqual([0n, cents(45)])
    expect(mail.paid).toBeLessThan(cents(45))
    const profile = await planAndApply(direct, [byUrl(one), byUrl(other)], 'profile', spent)
    expect(profile).toEqual({ low: cents(2), high: cents(2), paid: cents(2) })
  } finally {
    await direct.close()
  }
})
