import { describe, expect, test } from 'vitest'
import { isFullSize } from '../support/full-size.ts'

useContactHouse()
import {
  byUrl,
  byName,
  byCompany,
  byEmail,
  byPhone,
  somebody,
  isKnown,
  hasBoth,
  hasNoMail,
  isUnknown,
  house,
  passDays,
  enrich,
  planAndApply,
  onChain,
  cents,
  type Case,
  useContactHouse,
} from './plan-apply-contact.fixture.ts'

describe('a plan of several steps is kept to the cent', () => {
  // The short form has one case of each reason for which a step is bought, doubtful or left out.
  const onlyInFull = new Set([
    'also where nothing is',
    'a ceiling leaves what fits below it',
    'and one that does not',
    'also behind a step that is bought',
    'all steps of the recipe full',
    'rows of one person in several spellings count once',
  ])
  const cases: [what: string, Case][] = [
    [
      'by profile URL both kinds are asked for, whatever is found',
      { recipe: 'contact', rows: () => [byUrl(somebody(hasBoth))], low: 45, high: 45, paid: 45 },
    ],
    [
      'also where nothing is',
      { recipe: 'contact', rows: () => [byUrl(somebody(hasNoMail))], low: 45, high: 45, paid: 45 },
    ],
    [
      'what the record has is not asked for',
      {
        recipe: 'contact',
        rows: () => {
          const [one, other] = [somebody(hasBoth), somebody(hasBoth)]
          return [
            { ...byUrl(one), ...byEmail(one) },
            { ...byUrl(other), ...byPhone(other) },
          ]
        },
        low: 45,
        high: 45,
        paid: 45,
      },
    ],
    [
      'by name the match decides',
      { recipe: 'contact', rows: () => [byName(somebody(hasBoth))], low: 1, high: 46, paid: 46 },
    ],
    [
      'and whom the service does not know costs the asking',
      { recipe: 'contact', rows: () => [byName(somebody(isUnknown))], low: 1, high: 46, paid: 1 },
    ],
    [
      'by e-mail and by phone the other kind is left',
      {
        recipe: 'contact',
        rows: () => [byEmail(somebody(hasBoth)), byPhone(somebody(hasBoth))],
        low: 2,
        high: 1 + 30 + 1 + 15,
        paid: 1 + 30 + 1 + 15,
      },
    ],
    [
      'rows of one person in several spellings count once',
      {
        recipe: 'contact',
        rows: () => {
          const [one, other] = [somebody(hasBoth), somebody(isKnown)]
          const url = byUrl(one).profnet_url ?? ''
          return [
            { profnet_url: url },
            { profnet_url: `${url.replace('www.', 'de.').toUpperCase().replace('/IN/', '/in/')}/?x=1` },
            { profnet_url: url, ...byEmail(one) },
            byName(other),
            { ...byName(other), domain: `https://www.${other.employer.domain}/about` },
          ]
        },
        low: 46,
        high: 45 + 46,
        paid: 45 + 46,
      },
    ],
    [
      'the same by domain and by company may be two, and is bought as one',
      {
        recipe: 'contact',
        rows: () => {
          const one = somebody(isKnown)
          return [byName(one), byCompany(one)]
        },
        low: 2,
        high: 92,
        paid: 47,
      },
    ],
    [
      'a ceiling leaves what fits below it',
      { recipe: 'capped', rows: () => [byName(somebody(hasBoth))], low: 1, high: 16, paid: 16 },
    ],
    [
      'and is no doubt where it rules a step out at once',
      { recipe: 'capped', rows: () => [byUrl(somebody(hasBoth))], low: 15, high: 15, paid: 15 },
    ],
    [
      'a ceiling that one of two fits below',
      { recipe: 'dear', rows: () => [byUrl(somebody(hasBoth))], low: 1, high: 31, paid: 16 },
    ],
    [
      'an early end that comes',
      { recipe: 'either', rows: () => [byUrl(somebody(hasBoth))], low: 15, high: 45, paid: 15 },
    ],
    [
      'and one that does not',
      { recipe: 'either', rows: () => [byUrl(somebody(hasNoMail))], low: 15, high: 45, paid: 45 },
    ],
    [
      'steps that the ledger has cost nothing',
      {
        recipe: 'contact',
        async rows() {
          const [url, name] = [somebody(hasBoth), somebody(hasBoth)]
          await enrich([byUrl(url), byName(name)], 'mail')
          return [byUrl(url), byName(name)]
        },
        low: 60,
        high: 60,
        paid: 60,
      },
    ],
    [
      'also behind a step that is bought',
      {
        recipe: 'private',
        async rows() {
          const one = somebody(hasBoth)
          // Its phone is known, its work e-mail is not; the private one was asked for and is.
          await enrich([{ ...byUrl(one), ...byEmail(one) }], 'private')
          return [byUrl(one)]
        },
        low: 15,
        high: 15,
        paid: 15,
      },
    ],
    [
      'nothing is bought where the ledger knows that nobody is there',
      {
        recipe: 'contact',
        async rows() {
          const one = somebody(isUnknown)
          await enrich([byName(one)], 'mail')
          return [byName(one), { first_name: 'Half' }]
        },
        low: 0,
        high: 0,
        paid: 0,
      },
    ],
    [
      'an employer’s profile may be there already',
      {
        recipe: 'full',
        async rows() {
          const one = somebody(hasBoth)
          await enrich([byUrl(one)], 'full')
          return [byUrl(one), byUrl(somebody(isUnknown))]
        },
        low: 1,
        high: 47,
        paid: 1,
      },
    ],
    [
      'all steps of the recipe full',
      { recipe: 'full', rows: () => [byName(somebody(hasBoth))], low: 1, high: 48, paid: 48 },
    ],
    [
      'two searches for one address are one input',
      {
        recipe: 'alike',
        rows: () => {
          const one = somebody(hasBoth)
          return [
            { ...byName(one), ...byEmail(one) },
            { ...byCompany(one), ...byEmail(one) },
          ]
        },
        low: 1,
        high: 62,
        paid: 31,
      },
    ],
  ]
  test.each(cases.filter(([what]) => isFullSize || !onlyInFull.has(what)))(
    '%s',
    async (_, { recipe, rows, low, high, paid }) => {
      const costs = await planAndApply(house, await rows(), recipe, onChain)
      expect(costs).toEqual({ low: cents(low), high: cents(high), paid: cents(paid) })
    },
  )

  test('a price that nobody knows counts with its cap', async () => {
    const domain = somebody(isKnown).employer.domain
    const costs = await planAndApply(house, `domain\n${domain}\n`, 'full', onChain, 'company')
    expect(costs).toEqual({ low: 0n, high: cents(7), paid: cents(5) })
  })

  test('what has gone stale is bought again, and counted', async () => {
    const [one, other] = [somebody(hasNoMail), somebody(hasBoth)]
    const rows = [byUrl(one), byUrl(other)]
    await enrich(rows, 'mail')
    // Nothing found is good for thirty days, and what was found for ninety.
    passDays(31)
    const month = await planAndApply(house, rows, 'mail', onChain)
    expect(month).toEqual({ low: cents(15), high: cents(15), paid: cents(15) })
    passDays(65)
    const quarter = await planAndApply(house, rows, 'mail', onChain)
    expect(quarter).toEqual({ low: cents(30), high: cents(30), paid: cents(30) })
  })
})
