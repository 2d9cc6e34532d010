import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testSeed } from '../../../test/support/seed.ts'
import { pointsText, scoreOf, type ScoreRule, type SeenSignal } from './score.ts'
import { signalTypes } from './signal.ts'

const at = new Date('2026-11-23T09:00:00Z')

function seen(given: Partial<SeenSignal> = {}): SeenSignal {
  return {
    type: 'job',
    key: 'a',
    title: 'Head of Sales',
    link: null,
    place: null,
    strength: null,
    about: {},
    happenedAt: at,
    endedAt: null,
    firstSeenAt: at,
    ...given,
  }
}

const daysAgo = (days: number) => new Date(at.getTime() - days * 86_400_000)
const ofPoints = (points: readonly ScoreRule[], halfLifeDays = 10) => ({ halfLifeDays, points })

describe('a rule fits', () => {
  test.each<[string, Omit<ScoreRule, 'points' | 'type'>, Partial<SeenSignal>, boolean]>([
    ['any of its type', {}, {}, true],
    ['no other type', {}, { type: 'news' }, false],
    ['its strength, whatever its letter case', { strength: ['strong'] }, { strength: 'Strong' }, true],
    ['no other strength', { strength: ['strong'] }, { strength: 'weak' }, false],
    ['no strength that was not told', { strength: ['strong'] }, { strength: null }, false],
    [
      'any of the words',
      { match: { functions: ['sales', 'finance'] } },
      { about: { functions: ['Legal', 'Finance'] } },
      true,
    ],
    ['no other word', { match: { functions: ['sales'] } }, { about: { functions: ['Legal'] } }, false],
    ['no part of a word', { match: { functions: ['sales'] } }, { about: { functions: ['Presales'] } }, false],
    ['nothing where no word is told', { match: { functions: ['sales'] } }, {}, false],
    [
      'a word under its other name',
      { match: { categories: ['market entry'] } },
      { about: { category: 'Market_Entry' } },
      true,
    ],
    [
      'only with all its words',
      { match: { functions: ['sales'], seniority: ['c-level'] } },
      { about: { functions: ['sales'], seniority: 'Manager' } },
      false,
    ],
    [
      'with all its words and its strength',
      { strength: ['strong'], match: { providers: ['AWS'], markets: ['DE', 'FR'] } },
      { strength: 'strong', about: { provider: 'aws', markets: ['ES', 'FR'] } },
      true,
    ],
  ])('%s', (_, rule, signal, isFit) => {
    const { addends, unscored } = scoreOf([seen(signal)], ofPoints([{ type: 'job', points: 1, ...rule }]), at)
    expect(addends).toHaveLength(isFit ? 1 : 0)
    expect(unscored).toHaveLength(isFit ? 0 : 1)
  })

  test('and the first one that does counts', () => {
    const rules = ofPoints([
      { type: 'job', match: { functions: ['sales'] }, points: 20 },
      { type: 'job', points: 3 },
    ])
    const { addends, hundredths } = scoreOf(
      [seen({ key: 'a' }), seen({ key: 'b', about: { functions: ['sales'] } })],
      rules,
      at,
    )
    expect(addends.map(({ signal, rule, hundredths }) => [signal.key, rule, hundredths])).toEqual([
      ['b', 1, 2_000],
      ['a', 2, 300],
    ])
    expect(hundredths).toBe(2_300)
  })
})

describe('points are halved', () => {
  test.each<[string, number, number, number | undefined, number]>([
    ['not on the day itself', 20, 0, undefined, 2_000],
    ['once after the days', 20, 10, undefined, 1_000],
    ['twice after twice the days', 20, 20, undefined, 500],
    ['in between in proportion', 20, 5, undefined, 1_414],
    ['by the days of their rule', 20, 5, 5, 1_000],
    ['down to nothing', 20, 3_650, undefined, 0],
    ['below zero too', -20, 10, undefined, -1_000],
    ['with halves of a hundredth away from zero', 0.25, 10, undefined, 13],
    ['with halves away from zero below zero', -0.25, 10, undefined, -13],
    ['never to minus zero', -0.01, 1_000, undefined, 0],
  ])('%s', (_, points, days, halfLifeDays, hundredths) => {
    const signal = seen({ happenedAt: daysAgo(days), firstSeenAt: daysAgo(days) })
    const score = scoreOf([signal], ofPoints([{ type: 'job', points, halfLifeDays }]), at)
    expect(score.hundredths).toBe(hundredths)
    expect(score.addends[0]).toMatchObject({ ageDays: days, hundredths })
  })

  test.each<[string, Partial<SeenSignal>, number]>([
    ['from when it happened', { happenedAt: daysAgo(10), firstSeenAt: daysAgo(2) }, 10],
    [
      'from when it was first seen, where nothing tells more',
      { happenedAt: null, firstSeenAt: daysAgo(2) },
      2,
    ],
    ['not at all while it lies ahead', { happenedAt: daysAgo(-5), firstSeenAt: daysAgo(2) }, 0],
    [
      'by days of the calendar, at every hour the same',
      { happenedAt: new Date('2026-11-22T23:59:00Z'), firstSeenAt: daysAgo(0) },
      1,
    ],
  ])('%s', (_, signal, ageDays) => {
    expect(scoreOf([seen(signal)], ofPoints([{ type: 'job', points: 1 }]), at).addends[0]?.ageDays).toBe(
      ageDays,
    )
  })

  test('not before a signal was seen: an earlier day has its own score', () => {
    const signals = [seen({ firstSeenAt: daysAgo(3), happenedAt: daysAgo(9) })]
    const rules = ofPoints([{ type: 'job', points: 1 }])
    expect(scoreOf(signals, rules, daysAgo(4))).toEqual({ hundredths: 0, addends: [], unscored: [] })
    expect(scoreOf(signals, rules, daysAgo(3)).addends).toHaveLength(1)
  })
})

test.each([
  [0, '0'],
  [1_250, '12.5'],
  [-300, '-3'],
  [7, '0.07'],
])('%i hundredths are %s', (hundredths, text) => {
  expect(pointsText(hundredths)).toBe(text)
})

describe('for any signals and rules', () => {
  const words = fc.constantFrom('sales', 'legal', 'finance')
  const time = fc.integer({ min: 0, max: 400 }).map(daysAgo)
  const signal = fc.record({
    type: fc.constantFrom(...signalTypes),
    strength: fc.constantFrom(null, 'weak', 'strong'),
    functions: fc.array(words, { maxLength: 2 }),
    happenedAt: fc.option(time),
    firstSeenAt: time,
  })
  const signals = fc
    .array(signal, { maxLength: 20 })
    .map((all) =>
      all.map(({ functions, ...rest }, index) => seen({ ...rest, key: `k${index}`, about: { functions } })),
    )
  const rulesOf = (least: number) =>
    fc.record({
      halfLifeDays: fc.integer({ min: 1, max: 90 }),
      points: fc.array(
        fc.record({
          type: fc.constantFrom(...signalTypes),
          strength: fc.option(fc.constant(['strong']), { nil: undefined }),
          match: fc.option(fc.record({ functions: fc.array(words, { minLength: 1, maxLength: 2 }) }), {
            nil: undefined,
          }),
          points: fc.integer({ min: least, max: 5_000 }).map((hundredths) => hundredths / 100),
          halfLifeDays: fc.option(fc.integer({ min: 1, max: 90 }), { nil: undefined }),
        }),
        { maxLength: 6 },
      ),
    })
  const settings = { seed: testSeed(), numRuns: 200 }

  test('addends add up to the score, and every signal is in it or named as unscored', () => {
    fc.assert(
      fc.property(signals, rulesOf(-5_000), (all, rules) => {
        const { hundredths, addends, unscored } = scoreOf(all, rules, at)
        expect(addends.reduce((sum, addend) => sum + addend.hundredths, 0)).toBe(hundredths)
        expect(Number.isSafeInteger(hundredths)).toBe(true)
        expect(addends.length + unscored.length).toBe(all.length)
      }),
      settings,
    )
  })

  test('the order of the signals is irrelevant', () => {
    fc.assert(
      fc.property(
        signals,
        rulesOf(-5_000),
        fc.infiniteStream(fc.double({ min: 0, max: 1 })),
        (all, rules, draws) => {
          const shuffled = all
            .map((each) => ({ each, at: draws.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ each }) => each)
          const { hundredths, addends } = scoreOf(shuffled, rules, at)
          expect({ hundredths, addends }).toEqual({
            hundredths: scoreOf(all, rules, at).hundredths,
            addends: scoreOf(all, rules, at).addends,
          })
        },
      ),
      settings,
    )
  })

  test('without anything new a score only falls', () => {
    fc.assert(
      fc.property(signals, rulesOf(0), fc.integer({ min: 0, max: 500 }), (all, rules, hours) => {
        const later = new Date(at.getTime() + hours * 3_600_000)
        expect(scoreOf(all, rules, later).hundredths).toBeLessThanOrEqual(scoreOf(all, rules, at).hundredths)
      }),
      settings,
    )
  })
})
