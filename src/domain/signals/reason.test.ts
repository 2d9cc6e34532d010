import { expect, test } from 'vitest'
import { reasonOf } from './reason.ts'
import { scoreOf, type SeenSignal } from './score.ts'

const at = new Date('2026-11-23T09:00:00Z')

function reason(...signals: Partial<SeenSignal>[]): string | null {
  const seen = signals.map((given, index) => ({
    type: 'job' as const,
    key: `k${index}`,
    title: 'Head of Sales',
    link: null,
    place: null,
    strength: null,
    about: {},
    happenedAt: at,
    endedAt: null,
    firstSeenAt: at,
    ...given,
  }))
  const points = [
    { type: 'expansion' as const, points: -2.5 },
    { type: 'job' as const, points: 20 },
    { type: 'news' as const, points: 5 },
  ]
  return reasonOf(scoreOf(seen, { halfLifeDays: 10, points }, at).addends)
}

test('the reason names the strongest addends first, with their days', () => {
  expect(
    reason(
      { type: 'news', title: 'Opens in Madrid', happenedAt: null },
      { happenedAt: new Date('2026-11-13T00:00:00Z') },
      {},
      { type: 'expansion', title: null },
      { type: 'cloud' },
    ),
  ).toBe(
    '+20 Job: Head of Sales (2026-11-23); +10 Job: Head of Sales (2026-11-13); +5 News: Opens in Madrid (seen first 2026-11-23); and 1 more',
  )
})

test('a signal without a title has its type', () => {
  expect(reason({ type: 'expansion', title: null })).toBe('-2.5 Expansion (2026-11-23)')
})

test('nothing that counts gives no reason', () => {
  expect(reason()).toBeNull()
  expect(reason({ type: 'cloud' })).toBeNull()
})

test('any titles fit a property of text, in one line', () => {
  for (const title of [
    '=1+1',
    '\u202egnp.exe',
    '\ud800',
    'مرحبا '.repeat(90),
    'a'.repeat(5_000),
    '🧡'.repeat(400),
    'one\ntwo\u0000three',
  ]) {
    const text = reason({ title }, { title }, { title }, { title })!
    expect(text.length).toBeLessThanOrEqual(255)
    expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u)
    expect(text).toMatch(/^\+20 Job/)
  }
})
