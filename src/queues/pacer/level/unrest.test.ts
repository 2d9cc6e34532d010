import { describe, expect, it } from 'vitest'
import { calm, isRestless, noteBurst, noteHeld, noteLevel, type Unrest } from './unrest.ts'

const start = 1_800_000_000_000
const levels = (values: [afterMs: number, served: number][], before: Unrest = calm) =>
  values.reduce(
    (unrest, [afterMs, served]) => noteLevel(unrest, [served, served], served, start + afterMs),
    before,
  )

describe('unrest', () => {
  const settled = levels([
    [0, 30],
    [2_000, 30],
    [9_000, 29],
  ])

  it('is none while refusals agree on one level, however many they are', () => {
    expect(settled.level).toBeCloseTo(30, 0)
    const many = levels(
      Array.from({ length: 50 }, (_, i) => [10_000 + i * 500, 29 + (i % 3)]),
      settled,
    )
    expect(isRestless(many, start + 35_000)).toBe(false)
  })

  it('begins with two refusals at different times that agree on another level, and ends by itself', () => {
    const once = levels([[60_000, 22]], settled)
    expect(isRestless(once, start + 60_000)).toBe(false)
    const twice = levels([[62_000, 22]], once)
    expect(isRestless(twice, start + 62_000)).toBe(true)
    expect(isRestless(twice, start + 62_000 + 60_000)).toBe(true)
    expect(isRestless(twice, start + 62_000 + 180_000)).toBe(false)
  })

  it('does not begin where refused calls may count: the limit is between what was served and what was asked', () => {
    const charged = Array.from({ length: 20 }, (_, i) => i).reduce(
      (unrest, i) => noteLevel(unrest, [19, 33], 29, start + 60_000 + i * 2_000),
      settled,
    )
    expect(isRestless(charged, start + 100_000)).toBe(false)
    expect(charged.level).toBeCloseTo(settled.level, 5)
  })

  it('begins at once when the rate has fallen far', () => {
    const fallen = noteLevel(settled, [25, 25], 12, start + 60_000)
    expect(isRestless(fallen, start + 60_000)).toBe(true)
  })

  it('is not fed by bursts of refusals: one false alarm for each level', () => {
    const first = noteBurst(settled, 28, start + 60_000)
    expect(isRestless(first, start + 60_000)).toBe(true)
    const later = start + 600_000
    expect(isRestless(noteBurst(first, 28, later), later)).toBe(false)
  })

  it('begins again with a burst soon after it has ended only where the limit has fallen', () => {
    const over: Unrest = { ...settled, changes: 0.3, changedAtMs: start + 60_000 }
    const atMs = start + 90_000
    expect(isRestless(over, atMs)).toBe(false)
    expect(isRestless(noteBurst(over, 28, atMs), atMs)).toBe(false)
    expect(isRestless(noteBurst(over, 21, atMs), atMs)).toBe(true)
  })

  it('is none when a rate that has only held, or was still rising, turns out to be too low; a fall is one', () => {
    const held = noteHeld(calm, 20, start)
    const risen = levels(
      [
        [60_000, 30],
        [62_000, 30],
      ],
      held,
    )
    expect(risen.level).toBe(30)
    expect(isRestless(risen, start + 62_000)).toBe(false)
    const fallen = levels(
      [
        [60_000, 10],
        [62_000, 10],
      ],
      held,
    )
    expect(isRestless(fallen, start + 62_000)).toBe(true)
  })

  it('lasts for as long as the level before has held: a limit in turns is steady too, until it changes', () => {
    const agreed = (fromMs: number, count: number, before: Unrest) =>
      levels(
        Array.from({ length: count }, (_, i) => [fromMs + i * 1_000, 9.8 + 0.2 * (i % 3)]),
        before,
      )
    const fallen = agreed(40_000, 20, settled)
    expect(isRestless(agreed(60_000, 30, fallen), start + 90_000)).toBe(true)
    expect(isRestless(agreed(60_000, 60, fallen), start + 120_000)).toBe(false)
    const afterLong = agreed(240_000, 40, settled)
    expect(isRestless(afterLong, start + 280_000)).toBe(false)
  })

  it('ends at a low level though refusals show one request more or less', () => {
    const shown = (level: number, others: number[]) =>
      others.map((other, i): [number, number] => [240_000 + i * 1_500, level + other])
    const after = (level: number, by: number) =>
      levels(
        shown(
          level,
          Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? by : -by)),
        ),
        settled,
      )
    const endMs = start + 285_000
    expect(isRestless(after(5, 0.33), endMs)).toBe(false)
    expect(isRestless(after(15, 1), endMs)).toBe(true)
  })

  it('that lasts is taken for the making of the pacer: the level is searched for anew, and later each time', () => {
    const fed: Unrest = { ...settled, changes: 3, changedAtMs: start + 60_000, spread: 0.12 }
    const far = (ms: number, before: Unrest) =>
      noteLevel(before, ms % 2_000 === 0 ? [25, 25] : [35, 35], 30, start + ms)
    /** Refused each second, but for a pause of twenty after so many. */
    const until = (fromMs: number, begun: Unrest, pauseAfterMs = Infinity) => {
      let unrest = begun
      for (let ms = fromMs; ms < fromMs + 600_000; ms += 1_000) {
        if (ms - fromMs >= pauseAfterMs && ms - fromMs < pauseAfterMs + 20_000) continue
        unrest = far(ms, unrest)
        if (unrest.level === 0) return { unrest, tookMs: ms - fromMs }
      }
      return { unrest, tookMs: Infinity }
    }
    const first = until(60_000, fed)
    expect(first.tookMs).toBeGreaterThan(29_000)
    expect(first.tookMs).toBeLessThan(40_000)
    expect(isRestless(first.unrest, start + 60_000 + first.tookMs)).toBe(false)
    const paused = until(60_000, fed, 20_000)
    expect(paused.tookMs).toBeGreaterThan(68_000)
    const again = until(200_000, { ...fed, changedAtMs: start + 200_000, searches: first.unrest.searches })
    expect(again.tookMs).toBeGreaterThan(1.8 * first.tookMs)
  })

  it('that was over begins as new: what was far an hour ago ends no search', () => {
    const old: Unrest = {
      ...settled,
      changes: 2,
      changedAtMs: start + 60_000,
      spread: 0.2,
      farSinceMs: start,
    }
    const fallen = levels(
      [
        [3_600_000, 15],
        [3_602_000, 15],
        [3_604_000, 17],
        [3_606_000, 14],
      ],
      old,
    )
    expect(fallen.level).toBeGreaterThan(0)
    expect(isRestless(fallen, start + 3_606_000)).toBe(true)
  })

  it('is not shortened by a level that was met in passing', () => {
    const passed = levels(
      [
        [50_000, 20],
        [51_500, 20],
        [53_000, 10],
        [54_500, 10],
      ],
      settled,
    )
    expect(passed.level).toBeCloseTo(10, 0)
    const agreed = Array.from({ length: 30 }, (_, i): [number, number] => [56_000 + i * 1_000, 10])
    expect(isRestless(levels(agreed, passed), start + 86_000)).toBe(true)
  })

  it('is of somebody who takes another part each time, though no two refusals agree', () => {
    const first = levels([[60_000, 20]], settled)
    const another = levels([[63_000, 14]], first)
    expect(isRestless(first, start + 63_000)).toBe(false)
    expect(isRestless(another, start + 63_000)).toBe(true)
  })

  it('lasts while levels are apart, though none is far from the one known, and ends soon when they agree', () => {
    const begun: Unrest = { ...settled, changes: 1, changedAtMs: start + 60_000 }
    const met = (values: readonly number[], count: number) =>
      levels(
        Array.from({ length: count }, (_, i) => [61_000 + i * 1_000, values[i % values.length]!]),
        begun,
      )
    expect(isRestless(met([26, 34, 27, 33], 30), start + 91_000 + 120_000)).toBe(true)
    expect(isRestless(met([29, 30], 60), start + 121_000)).toBe(false)
  })
})
