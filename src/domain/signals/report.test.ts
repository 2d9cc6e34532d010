import { describe, expect, test } from 'vitest'
import { byChange, hasMoved, newAndGone, reportedAccount, type WatchedAccount } from './report.ts'
import type { SeenSignal } from './score.ts'

const at = new Date('2026-11-23T09:00:00Z')
const period = { at, sinceDay: '2026-11-16' }
const rules = {
  halfLifeDays: 10,
  points: [
    { type: 'job' as const, points: 20 },
    { type: 'news' as const, points: 5 },
  ],
}

function seen(key: string, day: string, given: Partial<SeenSignal> = {}): SeenSignal {
  return {
    type: 'job',
    key,
    title: key,
    link: `https://jobs.example/${key}`,
    place: null,
    strength: null,
    about: {},
    happenedAt: new Date(day),
    endedAt: null,
    firstSeenAt: new Date(day),
    ...given,
  }
}

const watched = (given: Partial<WatchedAccount>): WatchedAccount => ({
  account: { connector: 'hubspot', entity: 'companies', id: '1', name: 'Acme' },
  signals: [],
  history: [],
  stage: null,
  ...given,
})

describe('an account of a report', () => {
  test('has its score, its change, and its newest and strongest evidence first', () => {
    const account = reportedAccount(
      watched({
        signals: [
          seen('old', '2026-11-13'),
          seen('new-news', '2026-11-17', { type: 'news', happenedAt: null }),
          seen('new-job', '2026-11-23'),
          seen('without-points', '2026-11-20', { type: 'cloud' }),
        ],
        history: [{ day: '2026-11-16', hundredths: 1_625, stage: 'Exploring' }],
      }),
      rules,
      period,
    )
    expect(account).toMatchObject({ hundredths: 3_330, changeHundredths: 1_705, newSignals: 3 })
    expect(account.evidence.map(({ title, isNew, isSeenFirst }) => [title, isNew, isSeenFirst])).toEqual([
      ['new-job', true, false],
      ['new-news', true, true],
      ['without-points', true, false],
    ])
  })

  test('is filled up with older evidence', () => {
    const { evidence } = reportedAccount(
      watched({ signals: [seen('a', '2026-11-01'), seen('b', '2026-11-23'), seen('c', '2026-11-10')] }),
      rules,
      period,
    )
    expect(evidence.map(({ title }) => title)).toEqual(['b', 'c', 'a'])
  })

  test.each<[string, Partial<WatchedAccount>, boolean]>([
    ['has not moved while it only grows older', { signals: [seen('a', '2026-11-16')] }, false],
    ['has moved with something new', { signals: [seen('a', '2026-11-17')] }, true],
    [
      'has moved with its stage',
      {
        history: [
          { day: '2026-11-15', hundredths: 0, stage: 'Exploring' },
          { day: '2026-11-20', hundredths: 0, stage: 'Committing' },
        ],
      },
      true,
    ],
  ])('%s', (_, given, moved) => {
    expect(hasMoved(reportedAccount(watched(given), rules, period))).toBe(moved)
  })
})

test('accounts are ordered by change, those without an earlier score by their score', () => {
  const of = (id: string, hundredths: number, changeHundredths: number | null) => ({
    ...reportedAccount(
      watched({ account: { connector: 'hubspot', entity: 'companies', id, name: null } }),
      rules,
      period,
    ),
    hundredths,
    changeHundredths,
  })
  const sorted = [
    of('a', 900, -100),
    of('b', 500, null),
    of('c', 900, 800),
    of('d', 900, 500),
    of('e', 900, 500),
  ]
    .toSorted(byChange)
    .map(({ id }) => id)
  expect(sorted).toEqual(['c', 'd', 'e', 'b', 'a'])
})

describe('accounts of a pipeline', () => {
  const of = (id: string, firstDay: string, lastDay: string) => ({ id, firstDay, lastDay })
  test('are new since a day, or gone', () => {
    const { current, added, gone } = newAndGone(
      [
        of('stays', '2026-10-01', '2026-11-22'),
        of('new', '2026-11-17', '2026-11-22'),
        of('gone', '2026-10-01', '2026-11-18'),
        of('gone on the day', '2026-10-01', '2026-11-16'),
        of('gone long ago', '2026-10-01', '2026-11-15'),
      ],
      period.sinceDay,
    )
    expect(current.map(({ id }) => id)).toEqual(['stays', 'new'])
    expect(added.map(({ id }) => id)).toEqual(['new'])
    expect(gone.map(({ id }) => id)).toEqual(['gone', 'gone on the day'])
  })

  test('are not called new on the first days of the pipeline', () => {
    expect(newAndGone([of('a', '2026-11-20', '2026-11-22')], period.sinceDay).added).toEqual([])
    expect(newAndGone([], period.sinceDay)).toEqual({ current: [], added: [], gone: [] })
  })
})
