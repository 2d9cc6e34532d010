import { describe, expect, test } from 'vitest'
import { dayBefore, scoreChange, stageMoves, type DayScore } from './change.ts'

const row = (day: string, hundredths: number, stage: string | null = null): DayScore => ({
  day,
  hundredths,
  stage,
})

describe('the change of a score', () => {
  const today = { day: '2026-11-23', hundredths: 2_500 }
  test.each<[string, DayScore[], number | null]>([
    ['is unknown for a new account', [], null],
    ['is unknown while all rows are younger', [row('2026-11-17', 900)], null],
    ['is that since the day itself', [row('2026-11-15', 100), row('2026-11-16', 900)], 1_600],
    ['is that since the last row before it', [row('2026-11-10', 700), row('2026-11-17', 2_000)], 1_800],
    ['falls', [row('2026-11-16', 4_000)], -1_500],
    ['does not depend on the order of rows', [row('2026-11-16', 900), row('2026-11-02', 100)], 1_600],
  ])('%s', (_, history, change) => {
    expect(scoreChange(history, today)).toBe(change)
  })
})

describe('moves of a stage', () => {
  test.each<[string, DayScore[], string[]]>([
    ['are none for the first stage that is told', [row('2026-11-20', 0, 'Exploring')], []],
    [
      'are those after the day',
      [
        row('2026-11-10', 0, 'Exploring'),
        row('2026-11-16', 0, 'Committing'),
        row('2026-11-18', 0, 'Committing'),
        row('2026-11-20', 0, 'Expanding'),
      ],
      ['2026-11-20 Committing → Expanding'],
    ],
    [
      'pass over days on which no stage was told',
      [row('2026-11-10', 0, 'Exploring'), row('2026-11-18', 0), row('2026-11-20', 0, 'Exploring')],
      [],
    ],
    [
      'are each one, there and back',
      [row('2026-11-10', 0, 'Scaling'), row('2026-11-18', 0, 'Expanding'), row('2026-11-20', 0, 'Scaling')],
      ['2026-11-18 Scaling → Expanding', '2026-11-20 Expanding → Scaling'],
    ],
  ])('%s', (_, history, moves) => {
    const found = stageMoves(history.toReversed(), '2026-11-16')
    expect(found.map(({ day, from, to }) => `${day} ${from} → ${to}`)).toEqual(moves)
  })
})

test('a day before another one is found across months', () => {
  expect(dayBefore('2026-03-03', 7)).toBe('2026-02-24')
})
