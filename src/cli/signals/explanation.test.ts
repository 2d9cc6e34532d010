import { expect, test } from 'vitest'
import type { ExplainedAccount } from '../../app/signals/reporting/explain-score.ts'
import { scoreOf, type SeenSignal } from '../../domain/signals/score.ts'
import { explanationDocument, explanationText } from './explanation.ts'

const at = new Date('2026-11-23T09:00:00Z')
const rules = {
  halfLifeDays: 10,
  points: [
    { type: 'job' as const, match: { functions: ['sales'] }, points: 20 },
    { type: 'expansion' as const, strength: ['strong'], points: -1, halfLifeDays: 5 },
  ],
}

function seen(given: Partial<SeenSignal>): SeenSignal {
  return {
    type: 'job',
    key: 'a',
    title: 'Head of Sales',
    link: 'https://jobs.example/1',
    place: null,
    strength: null,
    about: { functions: ['Sales'] },
    happenedAt: new Date('2026-11-13T00:00:00Z'),
    endedAt: null,
    firstSeenAt: new Date('2026-11-14T00:00:00Z'),
    ...given,
  }
}

function explained(signals: SeenSignal[], changeHundredths: number | null): ExplainedAccount {
  return {
    account: { id: 1n, connector: 'hubspot', entity: 'companies', recordId: '7', name: 'Acme', stage: null },
    scores: [
      {
        ...scoreOf(signals, rules, at),
        pipeline: 'movers',
        at,
        changeHundredths,
        comparedWith: changeHundredths === null ? null : '2026-11-16',
        rules,
      },
    ],
  }
}

const signals = [
  seen({}),
  seen({
    key: 'b',
    type: 'expansion',
    title: null,
    link: null,
    strength: 'Strong',
    happenedAt: null,
    firstSeenAt: at,
  }),
  seen({ key: 'c', type: 'news' }),
]

test('an explanation has every addend with its rule, and their sum', () => {
  expect(explanationText(explained(signals, 250))).toBe(`Acme (hubspot:companies:7)
movers: 9 points as of 2026-11-23 09:00 UTC (+2.5 since 2026-11-16)
       +10  Job: Head of Sales · 2026-11-13 · https://jobs.example/1
            rule 1 (job, functions sales): 20 points, halved every 10 days, 10 days old: × 0.5000
        -1  Expansion: (no title) · seen first 2026-11-23 · strength Strong
            rule 2 (expansion, strength strong): -1 point, halved every 5 days, 0 days old: × 1.0000
        +9  sum of 2 signals
            without points, since no rule fits: 1 signal (news 1)
`)
})

test('an account without signals has no points, and one without an earlier score no change', () => {
  expect(explanationText(explained([], null))).toBe(`Acme (hubspot:companies:7)
movers: 0 points as of 2026-11-23 09:00 UTC (no score seven days ago)
  no signal counts
`)
})

test('its JSON adds up, and tells a time that was seen from one that happened', () => {
  const [pipeline] = explanationDocument(explained(signals, null)).pipelines
  expect(pipeline).toMatchObject({ score: 9, change: null, withoutRule: [{ key: 'c' }] })
  expect(pipeline?.addends).toMatchObject([
    {
      key: 'a',
      isSeenFirst: false,
      at: new Date('2026-11-13T00:00:00Z'),
      points: 20,
      result: 10,
      share: 0.5,
    },
    { key: 'b', isSeenFirst: true, at, points: -1, result: -1, ageDays: 0 },
  ])
})
