import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextMidnight } from './api/account.ts'
import {
  largerId,
  nextPosition,
  openPosition,
  readWatermark,
  writeWatermark,
  type Position,
} from './window.ts'
import { testSeed } from '../../../test/support/seed.ts'

const nowMs = Date.UTC(2026, 10, 20, 12)
const lookbackMs = 600_000

describe('the position of a scan', () => {
  test('starts with the list, at a time, or after a watermark', () => {
    expect(openPosition({}, nowMs)).toEqual({ at: 'load', startedMs: nowMs, maxSeenMs: null, after: null })
    const since = openPosition({ since: new Date(5) }, nowMs)
    expect(since).toEqual({ at: 'window', fromMs: 5, toMs: nowMs, lastId: '0', maxSeenMs: null })
    const broken: Position = { at: 'window', fromMs: 5, toMs: 9, lastId: '77', maxSeenMs: 7 }
    expect(openPosition({ after: writeWatermark(broken), since: new Date(6) }, nowMs)).toEqual(broken)
    expect(openPosition({ after: writeWatermark({ at: 'next', fromMs: 8 }) }, nowMs)).toMatchObject({
      at: 'window',
      fromMs: 8,
      toMs: nowMs,
    })
  })

  test.each([
    ['the youngest change seen', { maxSeenMs: nowMs - 1000 }, nowMs - 1000 - lookbackMs],
    ['the beginning, when changes came after it', { maxSeenMs: nowMs + 5000 }, nowMs - lookbackMs],
    ['the beginning, when nothing was seen', { maxSeenMs: null }, nowMs - lookbackMs],
  ])('after a first load: a while before %s', (_, { maxSeenMs }, fromMs) => {
    const position = { at: 'load', startedMs: nowMs, after: 'x', maxSeenMs } as const
    expect(nextPosition(position, lookbackMs)).toEqual({ at: 'next', fromMs })
  })

  test('a window is never followed by one that starts before it', () => {
    fc.assert(
      fc.property(
        fc.nat(1e9),
        fc.nat(1e9),
        fc.option(fc.nat(2e9), { nil: null }),
        (fromMs, length, maxSeenMs) => {
          const position = { at: 'window', fromMs, toMs: fromMs + length, lastId: '1', maxSeenMs } as const
          const next = nextPosition(position, lookbackMs)
          expect(next).toMatchObject({ at: 'next' })
          if (next.at !== 'next') return
          expect(next.fromMs).toBeGreaterThanOrEqual(fromMs)
          expect(next.fromMs).toBeLessThanOrEqual(Math.max(fromMs, fromMs + length - lookbackMs))
        },
      ),
      { seed: testSeed() },
    )
  })

  test('is restored from its watermark, and garbage is refused', () => {
    const stands: Position[] = [
      { at: 'load', startedMs: 1, maxSeenMs: null, after: null },
      { at: 'window', fromMs: 1, toMs: 2, lastId: '12345678901234567890', maxSeenMs: 2 },
      { at: 'next', fromMs: -5 },
    ]
    for (const position of stands) expect(readWatermark(writeWatermark(position))).toEqual(position)
    for (const garbage of ['', '500', '{}', '{"at":"window"}', '{"at":"next","fromMs":"1"}'])
      expect(() => readWatermark(garbage)).toThrow('watermark')
  })

  test('compares ids as numbers, however long', () => {
    expect(['99999', '100000', '9'].reduce(largerId)).toBe('100000')
    expect(largerId('9007199254740993', '9007199254740992')).toBe('9007199254740993')
  })
})

describe('the next midnight', () => {
  test.each([
    ['UTC', '2026-11-20T12:00:00Z', '2026-11-21T00:00:00Z'],
    ['Europe/Berlin', '2026-11-20T22:59:00Z', '2026-11-20T23:00:00Z'],
    ['Europe/Berlin', '2026-11-20T23:00:00Z', '2026-11-21T23:00:00Z'],
    ['Europe/Berlin', '2026-03-28T23:30:00Z', '2026-03-29T22:00:00Z'],
    ['America/New_York', '2026-11-01T04:30:00Z', '2026-11-02T05:00:00Z'],
    ['Asia/Kolkata', '2026-11-20T12:00:00Z', '2026-11-20T18:30:00Z'],
    ['Nowhere/Land', '2026-11-20T12:00:00Z', '2026-11-21T00:00:00Z'],
  ])('in %s after %s', (zone, now, midnight) => {
    expect(new Date(nextMidnight(Date.parse(now), zone)).toISOString()).toBe(new Date(midnight).toISOString())
  })
})
