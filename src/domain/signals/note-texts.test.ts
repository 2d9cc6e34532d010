import { describe, expect, test } from 'vitest'
import { isTaskDue, newSignals, periodOf, signalLines, signalLinks } from './note-texts.ts'
import type { SeenSignal } from './score.ts'

const at = new Date('2026-11-23T12:00:00Z')
const ago = (days: number): Date => new Date(at.getTime() - days * 86_400_000)
const signal = (key: string, more: Partial<SeenSignal> = {}): SeenSignal => ({
  type: 'job',
  key,
  title: `Title ${key}`,
  link: null,
  place: null,
  strength: null,
  about: {},
  happenedAt: null,
  endedAt: null,
  firstSeenAt: ago(1),
  ...more,
})

test.each([
  ['2026-11-22T23:59:59Z', '2026-11-23T00:00:00Z', false],
  ['2026-11-23T00:00:00Z', '2026-11-29T23:59:59Z', true],
])('%s and %s are in one week: %s', (a, b, isSame) => {
  expect(periodOf(new Date(a), 7) === periodOf(new Date(b), 7)).toBe(isSame)
})

test.each<[string, Partial<SeenSignal>, Date | undefined, boolean]>([
  ['seen yesterday, and no note before', {}, undefined, true],
  ['seen before the last note', { firstSeenAt: ago(5) }, ago(3), false],
  ['seen after the last note', { firstSeenAt: ago(2) }, ago(3), true],
  ['seen at the time of the last note', { firstSeenAt: ago(3) }, ago(3), false],
  ['ended', { endedAt: ago(1) }, undefined, false],
  ['happened long ago and was seen only now', { happenedAt: ago(90) }, undefined, false],
  ['happened lately', { happenedAt: ago(20) }, undefined, true],
  ['seen long ago, and no note before', { firstSeenAt: ago(40) }, undefined, false],
])('one that %s is told: %#', (_, more, since, isTold) => {
  expect(newSignals([signal('a', more)], { since, at }).length).toBe(isTold ? 1 : 0)
})

describe('the text', () => {
  test('tells the latest first, and never a day of seeing as one of happening', () => {
    const told = newSignals(
      [
        signal('old', { happenedAt: ago(9), place: 'Berlin' }),
        signal('seen'),
        signal('new', { type: 'news', happenedAt: ago(0), link: 'https://x.example/', title: null }),
      ],
      { since: undefined, at },
    )
    expect(signalLines(told)).toEqual([
      '2026-11-23  News: no title told',
      'seen first 2026-11-22  Job: Title seen',
      '2026-11-14  Job: Title old (Berlin)',
    ])
    expect(signalLinks(told)).toEqual([{ title: 'News', url: 'https://x.example/' }])
  })

  test('names twenty and counts the others', () => {
    const lines = signalLines(Array.from({ length: 33 }, (_, each) => signal(String(each))))
    expect(lines).toHaveLength(21)
    expect(lines.at(-1)).toBe('and 13 more')
  })
})

test.each<
  [string, Parameters<typeof isTaskDue>[0], [number, number | null], [number, number] | undefined, boolean]
>([
  ['the score is reached', { scoreAtLeast: 40 }, [4000, null], undefined, true],
  ['the score is one hundredth below', { scoreAtLeast: 40 }, [3999, null], undefined, false],
  [
    'both are asked and one is missed',
    { scoreAtLeast: 40, changeAtLeast: 10 },
    [5000, 999],
    undefined,
    false,
  ],
  ['the change is not known', { changeAtLeast: 0 }, [5000, null], undefined, false],
  ['the last task is of this week', { changeAtLeast: 10 }, [5000, 1000], [3, 0], false],
  ['the change comes again later', { changeAtLeast: 10 }, [5000, 1000], [8, 5000], true],
  ['the score was never below since', { scoreAtLeast: 40 }, [5000, null], [20, 4100], false],
  ['the score was below in between', { scoreAtLeast: 40 }, [5000, null], [20, 3900], true],
])('a task is due when %s: %#', (_, rule, [hundredths, change], last, isDue) => {
  const before = last && { at: ago(last[0]), lowestSince: last[1] }
  expect(isTaskDue(rule, { hundredths, change, at }, before, 7)).toBe(isDue)
})
