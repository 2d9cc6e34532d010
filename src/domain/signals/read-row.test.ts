import { describe, expect, test } from 'vitest'
import { observedPatch } from './observed.ts'
import { readRow } from './read-row.ts'

const firstSeenAt = new Date('2026-11-01T08:00:00Z')

/** Returns what a record says of a campaign at a time. */
function advertising(activeUntil: unknown, at: string): unknown {
  const row = { advertisement_search_id: 'ad-1', active_from: '2026-11-01', active_until: activeUntil }
  const { signal } = readRow('advertisement', row)
  const patch = observedPatch(
    {
      position: { stage: null, direction: null, markets: [] },
      signals: [{ ...signal, firstSeenAt }],
      checks: { advertisement: { checkedAt: new Date(at), isMatched: true } },
    },
    {
      types: ['advertisement'],
      days: { job: 7, news: 3, advertisement: 14, cloud: 30, expansion: 7 },
      at: new Date(at),
    },
  )
  return patch['advertising']
}

test.each([
  ['its last day, in the evening', '2026-11-23', '2026-11-23T23:59:59Z', true],
  ['its last day as the first moment of it', '2026-11-23T00:00:00.000Z', '2026-11-23T08:00:00Z', true],
  ['the day after', '2026-11-23', '2026-11-24T00:00:00Z', false],
  ['the day before', '2026-11-23', '2026-11-22T08:00:00Z', true],
  ['a moment that was told, before it', '2026-11-23T12:00:00Z', '2026-11-23T11:59:59Z', true],
  ['a moment that was told, after it', '2026-11-23T12:00:00Z', '2026-11-23T12:00:01Z', false],
  ['no end', null, '2027-11-23T08:00:00Z', true],
  ['the day before its first', '2026-12-01', '2026-10-31T23:00:00Z', false],
])('an advertisement runs until the end of its last day: %s', (_, until, at, expected) => {
  expect(advertising(until, at)).toEqual({ set: expected })
})

describe('a market entry', () => {
  const row = {
    expansion_id: 'ex-1',
    from: 'DE',
    to: 'ES',
    stage: { name: 'Exploring', direction: 'new' },
    latest_signal_at: '2026-11-20',
  }
  const later = { ...row, stage: { name: 'Committing', direction: 'climbing' } }

  test('is one at every stage, and each stage is a signal', () => {
    const [one, other] = [row, later].map((each) => readRow('expansion', each))
    expect(one!.entry).toBe('ex-1')
    expect(other!.entry).toBe(one!.entry)
    expect([one, other].map((each) => each!.signal.key)).toEqual(['ex-1:Exploring', 'ex-1:Committing'])
    expect(other!.signal.about).toMatchObject({ stage: 'Committing', direction: 'climbing', to: 'ES' })
  })

  test('without an id is known by its markets, whatever its stage', () => {
    const nameless = [row, later].map((each) => readRow('expansion', { ...each, expansion_id: undefined }))
    expect(nameless[0]!.entry).toBe(nameless[1]!.entry)
    expect(nameless[0]!.signal.key).not.toBe(nameless[1]!.signal.key)
    const elsewhere = { ...later, expansion_id: undefined, to: 'FR' }
    expect(readRow('expansion', elsewhere).entry).not.toBe(nameless[0]!.entry)
  })

  test('no other type has an entry', () => {
    expect(readRow('job', { job_search_id: 'jb-1' }).entry).toBeNull()
  })
})
