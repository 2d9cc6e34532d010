import { describe, expect, test } from 'vitest'
import { observedPatch, type AnsweredCheck, type ObservedState } from './observed.ts'
import { signalTypes, type SignalType } from './signal.ts'

const at = new Date('2026-11-23T12:00:00Z')
const daysAgo = (days: number) => new Date(at.getTime() - days * 86_400_000)
const days = { job: 7, news: 3, advertisement: 14, cloud: 30, expansion: 7 }

const nowhere: ObservedState['position'] = { stage: null, direction: null, markets: [] }
const answered = (isMatched: boolean, age = 1): AnsweredCheck => ({ checkedAt: daysAgo(age), isMatched })
const all = (check: AnsweredCheck) => Object.fromEntries(signalTypes.map((type) => [type, check]))
const signal = (type: SignalType, key: string, more: Partial<ObservedState['signals'][number]> = {}) => ({
  type,
  key,
  title: key,
  link: null,
  place: null,
  strength: null,
  about: {},
  happenedAt: null,
  endedAt: null,
  firstSeenAt: daysAgo(60),
  ...more,
})

function observed(state: Partial<ObservedState>, types: readonly SignalType[] = signalTypes) {
  const patch = observedPatch(
    { position: nowhere, signals: [], checks: all(answered(true)), ...state },
    { types, days, at },
  )
  return Object.fromEntries(
    Object.entries(patch).map(([field, change]) => [field, 'set' in change ? change.set : null]),
  )
}

/** The departure from "nothing found never writes": every row has what is said of a company that the service knows. */
describe('zero is a value', () => {
  const ended = { endedAt: daysAgo(1) }
  const azure = signal('cloud', 'azure', { about: { provider: 'Azure' } })
  const aws = signal('cloud', 'aws', { about: { provider: ['AWS'] } })
  test.each<[string, Partial<ObservedState>, string, unknown]>([
    ['no open jobs', {}, 'open_jobs', 0],
    ['jobs that are closed', { signals: [signal('job', 'a', ended)] }, 'open_jobs', 0],
    [
      'open jobs',
      { signals: [signal('job', 'a'), signal('job', 'b'), signal('job', 'c', ended)] },
      'open_jobs',
      2,
    ],
    [
      'a job that nobody asks for any more',
      {
        signals: [
          signal('job', 'a', { happenedAt: daysAgo(151) }),
          signal('job', 'b', { happenedAt: daysAgo(149) }),
        ],
      },
      'open_jobs',
      1,
    ],
    ['no campaign', {}, 'advertising', false],
    ['an ended campaign', { signals: [signal('advertisement', 'a', ended)] }, 'advertising', false],
    [
      'a campaign that ends later',
      { signals: [signal('advertisement', 'a', { endedAt: daysAgo(-1) })] },
      'advertising',
      true,
    ],
    [
      'a campaign to come',
      { signals: [signal('advertisement', 'a', { happenedAt: daysAgo(-1) })] },
      'advertising',
      false,
    ],
    ['a campaign', { signals: [signal('advertisement', 'a')] }, 'advertising', true],
    ['no markets', {}, 'expansion_markets', null],
    [
      'markets',
      { position: { ...nowhere, markets: ['Spain', 'France', 'Spain'] } },
      'expansion_markets',
      'France; Spain',
    ],
    ['no providers', {}, 'cloud_providers', null],
    [
      'providers',
      { signals: [azure, aws, { ...aws, key: 'other region' }] },
      'cloud_providers',
      'AWS; Azure',
    ],
    ['a provider that was left', { signals: [{ ...azure, ...ended }, aws] }, 'cloud_providers', 'AWS'],
    ['no stage any more', {}, 'expansion_stage', null],
    ['a stage', { position: { ...nowhere, stage: 'Scaling' } }, 'expansion_stage', 'Scaling'],
    [
      'a direction that is in no list',
      { position: { ...nowhere, direction: 'retreating' } },
      'expansion_direction',
      'retreating',
    ],
  ])('%s', (_, state, field, value) => {
    expect(observed(state)).toHaveProperty(field, value)
  })

  const full: Partial<ObservedState> = {
    score: { score: 0, change7d: null, reason: null },
    signals: [signal('news', 'a', { happenedAt: daysAgo(2) })],
  }

  test('of a company that was matched, and of no other', () => {
    expect(observed({ ...full, checks: all(answered(false)) })).toEqual({})
    expect(observed({ ...full, checks: {} })).toEqual({})
    expect(Object.keys(observed(full))).toHaveLength(13)
  })

  test('a score of 0 is written, and its reason cleared', () => {
    expect(observed(full)).toMatchObject({ signal_score: 0, signal_reason: null })
  })

  test.each(signalTypes)('nothing is said of %s when it was not matched, or is not watched', (type) => {
    const others = Object.keys(observed(full, [type]))
    const without = Object.keys(
      observed({ ...full, checks: { ...all(answered(true)), [type]: answered(false) } }),
    )
    const scored = ['signal_score', 'signal_score_change_7d', 'signal_reason', 'signals_checked_at']
    const ofType = others.filter((field) => !scored.includes(field))
    expect(ofType.length).toBeGreaterThan(0)
    expect(without.filter((field) => ofType.includes(field))).toEqual([])
  })
})

describe('the time of the check', () => {
  test.each<[string, ObservedState['checks'], Date | undefined, SignalType[]?]>([
    ['is the last answer', { ...all(answered(true, 2)), job: answered(true, 1) }, daysAgo(1)],
    ['stays while one was never answered', { ...all(answered(true)), news: undefined as never }, undefined],
    ['stays while one is due', { ...all(answered(true)), news: answered(true, 3) }, undefined],
    [
      'moves when the one that is due is not watched',
      { ...all(answered(true)), news: answered(true, 3) },
      daysAgo(1),
      ['job'],
    ],
    [
      'moves when a type was answered and not matched',
      { ...all(answered(true)), news: answered(false) },
      daysAgo(1),
    ],
  ])('%s', (_, checks, expected, types) => {
    expect(observed({ checks }, types)['signals_checked_at']).toBe(expected?.toISOString())
  })
})

describe('jobs over 30 days', () => {
  const jobs = [
    signal('job', 'long open', { happenedAt: daysAgo(90) }),
    signal('job', 'closed since', { happenedAt: daysAgo(90), endedAt: daysAgo(10) }),
    signal('job', 'closed since too', { happenedAt: daysAgo(31), endedAt: daysAgo(1) }),
    signal('job', 'closed before', { happenedAt: daysAgo(90), endedAt: daysAgo(40) }),
    signal('job', 'new', { happenedAt: daysAgo(3) }),
    signal('job', 'seen first', { firstSeenAt: daysAgo(35) }),
    signal('news', 'no job', { happenedAt: daysAgo(90) }),
  ]
  test.each<[string, Date | undefined, number | null]>([
    ['since 60 days', daysAgo(60), -1],
    ['since 30 days', daysAgo(30), -1],
    ['since 29 days', daysAgo(29), null],
    ['since now', undefined, null],
  ])('watched %s', (_, watchedSince, change) => {
    expect(observed({ signals: jobs, watchedSince })).toMatchObject({ open_jobs_change_30d: change })
  })
})

describe('the last news', () => {
  test('has the day that was told, not the one on which it was seen first', () => {
    const old = signal('news', 'told', { happenedAt: daysAgo(5) })
    const seen = signal('news', 'seen yesterday', { firstSeenAt: daysAgo(1) })
    expect(observed({ signals: [seen, old] })).toMatchObject({
      last_news_at: '2026-11-18',
      last_news_title: 'told',
    })
    expect(observed({ signals: [seen] })).toMatchObject({
      last_news_at: null,
      last_news_title: 'seen yesterday',
    })
  })

  test('is the same in every order', () => {
    const some = ['b', 'a', 'c'].map((key) => signal('news', key, { happenedAt: daysAgo(5) }))
    for (const signals of [some, some.toReversed()])
      expect(observed({ signals })).toMatchObject({ last_news_title: 'a' })
  })

  test('is nothing where there is none', () => {
    expect(observed({})).toMatchObject({ last_news_at: null, last_news_title: null })
  })
})

describe('the score', () => {
  test.each([
    [{ score: 41.25, change7d: -8.75, reason: '+41.25 Job' }, 41.25, -8.75, '+41.25 Job'],
    [{ score: 0, change7d: 0, reason: null }, 0, 0, null],
    [{ score: 3, change7d: null, reason: '+3 Job' }, 3, null, '+3 Job'],
  ])('%j is written', (score, points, change, reason) => {
    const fields = { signal_score: points, signal_score_change_7d: change, signal_reason: reason }
    expect(observed({ score })).toMatchObject(fields)
  })

  test('is not written where none was computed', () => {
    expect(observed({})).not.toHaveProperty('signal_score')
  })
})
