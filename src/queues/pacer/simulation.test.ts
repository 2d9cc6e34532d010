import { describe, expect, it } from 'vitest'
import { isFullSize } from '../../../test/support/full-size.ts'
import {
  allSeeds,
  second,
  minute,
  hour,
  seeds,
  always,
  evenly,
  eachSeed,
  median,
  medianOf,
  bestKnownPace,
  show,
  percent,
  type KindName,
} from './simulation.fixture.ts'
import { everyLimit, fixedWindow, simulate, type HiddenLimit, type Measured } from './simulation.ts'

/** For what depends on where in a window the limit changes. */
const draws = [1, 2, 3, 4, 5, 6, 7, 8]

show(`pacer simulation: seeds ${seeds.join(', ')}, medians of ${seeds.length} runs`)

describe('in steady state, against a limit a second', () => {
  const goals: { kind: KindName; perSecond: number; countsRefused: boolean; use: number; refused: number }[] =
    [
      { kind: 'fixed', perSecond: 10, countsRefused: false, use: 0.985, refused: 0.004 },
      { kind: 'fixed', perSecond: 50, countsRefused: false, use: 0.985, refused: 0.004 },
      { kind: 'fixed', perSecond: 200, countsRefused: false, use: 0.985, refused: 0.004 },
      { kind: 'bucket', perSecond: 10, countsRefused: false, use: 0.985, refused: 0.004 },
      { kind: 'bucket', perSecond: 50, countsRefused: false, use: 0.985, refused: 0.004 },
      { kind: 'bucket', perSecond: 200, countsRefused: false, use: 0.985, refused: 0.004 },
      // Each look for a rise costs a second refusal where refused calls count.
      { kind: 'bucket', perSecond: 10, countsRefused: true, use: 0.985, refused: 0.009 },
      { kind: 'bucket', perSecond: 50, countsRefused: true, use: 0.985, refused: 0.005 },
      { kind: 'bucket', perSecond: 200, countsRefused: true, use: 0.985, refused: 0.004 },
      { kind: 'sliding', perSecond: 200, countsRefused: false, use: 0.97, refused: 0.005 },
      { kind: 'sliding', perSecond: 200, countsRefused: true, use: 0.97, refused: 0.005 },
      // Missed by 0.1 points at this jitter; see "comes within half a point of the bound" and docs/decisions/0005-pacing.md.
      { kind: 'sliding', perSecond: 50, countsRefused: false, use: 0.967, refused: 0.005 },
      { kind: 'sliding', perSecond: 50, countsRefused: true, use: 0.967, refused: 0.005 },
      // No goal is set for ten a second in a sliding window: jitter alone takes one request in 25.
      { kind: 'sliding', perSecond: 10, countsRefused: false, use: 0.955, refused: 0.005 },
      { kind: 'sliding', perSecond: 10, countsRefused: true, use: 0.955, refused: 0.005 },
    ]
  // The short form has one limit a kind.
  it.each(goals.filter(({ perSecond }) => isFullSize || perSecond === 50))(
    '$kind $perSecond/s (refused calls count: $countsRefused): use ≥ $use, refused ≤ $refused, four processes alike',
    ({ kind, perSecond, countsRefused, use, refused }) => {
      // Long enough that one refusal more or less does not matter.
      const durationMs = 2 * minute + Math.max(4, Math.min(16, 600 / perSecond)) * minute
      const scenario = {
        limit: always(kind, { limitAt: () => perSecond, windowMs: second, countsRefused }),
        permitted: evenly(perSecond, second),
        durationMs,
      }
      const [one, four] = [1, 4].map((processes) =>
        median({ ...scenario, processes }, 2 * minute, durationMs, `${kind} ${perSecond}/s ×${processes}`),
      ) as [Measured, Measured]
      for (const measured of [one, four]) {
        expect(measured.use).toBeGreaterThanOrEqual(use)
        expect(measured.refusedShare).toBeLessThanOrEqual(refused)
      }
      const apart = kind === 'bucket' && countsRefused ? 0.005 : 0.003
      expect(Math.abs(one.use - four.use)).toBeLessThanOrEqual(apart)
      expect(Math.abs(one.refusedShare - four.refusedShare)).toBeLessThanOrEqual(apart)
    },
  )

  it('sliding 50/s reaches 97 % where the delay to the server varies a little less', () => {
    const measured = median(
      {
        limit: always('sliding', { limitAt: () => 50, windowMs: second }),
        permitted: evenly(50, second),
        durationMs: 6 * minute,
        outboundMs: 10,
      },
      2 * minute,
      6 * minute,
      'sliding 50/s, way of 10 ms',
    )
    expect(measured.use).toBeGreaterThanOrEqual(0.97)
    expect(measured.refusedShare).toBeLessThanOrEqual(0.005)
  })

  it.each(isFullSize ? [10, 50, 200] : [50])(
    'sliding %i/s comes within half a point of the bound: a client that knows the limit and paces optimally',
    (perSecond) => {
      const scenario = {
        limit: always('sliding', { limitAt: () => perSecond, windowMs: second }),
        permitted: evenly(perSecond, second),
        durationMs: 6 * minute,
      }
      const learned = median(scenario, 2 * minute, 6 * minute, `sliding ${perSecond}/s`)
      const bound = bestKnownPace(perSecond)
      show(`  bound for sliding ${perSecond}/s: use ${percent(bound)} with refusals ≤ 0.5 %`)
      expect(learned.use).toBeGreaterThanOrEqual(bound - 0.005)
    },
  )
})

describe('against 300 a minute', () => {
  it.each([
    { kind: 'fixed' as const, countsRefused: false },
    { kind: 'sliding' as const, countsRefused: false },
    { kind: 'sliding' as const, countsRefused: true },
    { kind: 'bucket' as const, countsRefused: false },
  ])('$kind (refused calls count: $countsRefused): use ≥ 97 %', ({ kind, countsRefused }) => {
    for (const processes of isFullSize ? [1, 4] : [4]) {
      const measured = median(
        {
          limit: always(kind, { limitAt: () => 300, windowMs: minute, countsRefused }),
          permitted: evenly(300, minute),
          durationMs: 35 * minute,
          processes,
        },
        5 * minute,
        35 * minute,
        `300/min ${kind} ×${processes}`,
      )
      expect(measured.use).toBeGreaterThanOrEqual(0.97)
      expect(measured.refusedShare).toBeLessThanOrEqual(countsRefused ? 0.009 : 0.005)
    }
  })

  it('is back at 95 % in the third window after the limit doubles, and stays', () => {
    const doubledAt = 15.5 * minute
    const limitAt = (atMs: number) => (atMs < doubledAt ? 300 : 600)
    for (const processes of [1, 4]) {
      const scenario = {
        limit: always('fixed', { limitAt, windowMs: minute }),
        permitted: evenly(600, minute),
        durationMs: 30 * minute,
        processes,
      }
      const runs = eachSeed(scenario)
      for (const from of [2, 3, 6]) {
        const measured = medianOf(
          runs,
          doubledAt + from * minute,
          doubledAt + (from + 1) * minute,
          `300/min doubled, window ${from + 1} ×${processes}`,
        )
        expect(measured.use).toBeGreaterThanOrEqual(0.95)
      }
    }
  })

  it('follows a halved limit within a window', () => {
    // The later in a window it falls, the more of them have been served than the new limit allows: one in two, of eight draws.
    for (const halvedAt of [5 * minute, 15.5 * minute]) {
      const runs = eachSeed(
        {
          limit: always('fixed', { limitAt: (atMs) => (atMs < halvedAt ? 300 : 150), windowMs: minute }),
          permitted: evenly(150, minute),
          durationMs: halvedAt + 15 * minute,
        },
        draws,
      )
      const from = halvedAt + 2 * minute
      medianOf(runs, from, halvedAt + 15 * minute, '300/min halved, from the third minute on')
      for (const run of runs) {
        const measured = run.between(from, halvedAt + 15 * minute)
        expect(measured.use).toBeGreaterThanOrEqual(0.97)
        expect(measured.refusedShare).toBeLessThanOrEqual(0.005)
      }
    }
  })

  it('is back at 95 % in the third window when it is halved and doubles again', () => {
    const limitAt = (atMs: number) => (atMs >= 5 * minute && atMs < 10 * minute ? 150 : 300)
    const runs = eachSeed(
      {
        // As from the first request on.
        limit: () => fixedWindow({ limitAt, windowMs: minute }, () => 0),
        permitted: evenly(300, minute),
        durationMs: 15 * minute,
      },
      draws,
    )
    for (const from of [12, 13, 14])
      for (const run of runs)
        expect(run.between(from * minute, (from + 1) * minute).use).toBeGreaterThanOrEqual(0.95)
  })

  it('and 2,400 an hour: spends the hour evenly once it is known, and never bursts past it', () => {
    const scenario = {
      limit: (random: () => number) =>
        everyLimit(
          fixedWindow({ limitAt: () => 300, windowMs: minute }, random),
          fixedWindow({ limitAt: () => 2400, windowMs: hour }, random),
        ),
      permitted: evenly(2400, hour),
      durationMs: 8 * hour,
    }
    const measured = median(scenario, 3 * hour, 8 * hour, '300/min and 2,400/h')
    expect(measured.use).toBeGreaterThanOrEqual(0.97)
    expect(measured.refusedShare).toBeLessThanOrEqual(0.005)
    const run = simulate({ ...scenario, seed: 2 })
    const tenMinutes = Array.from({ length: 30 }, (_, i) =>
      run.between(3 * hour + i * 10 * minute, 3 * hour + (i + 1) * 10 * minute),
    )
    expect(Math.max(...tenMinutes.map((m) => m.sent))).toBeLessThanOrEqual(1.1 * 400)
  })
})

describe('when the limit changes midway', () => {
  it.each([
    { what: 'halved', factor: 0.5 },
    { what: 'doubled', factor: 2 },
  ])('50/s $what: finds the new one and uses it as well as the old', ({ what, factor }) => {
    const changedAt = 5 * minute
    const limitAt = (atMs: number) => (atMs < changedAt ? 50 : 50 * factor)
    for (const kind of ['fixed', 'sliding', 'bucket'] as const) {
      const measured = median(
        {
          limit: always(kind, { limitAt, windowMs: second }),
          permitted: evenly(50 * factor, second),
          durationMs: 11 * minute,
        },
        changedAt + 2 * minute,
        11 * minute,
        `50/s ${what} ${kind}, from the third minute on`,
      )
      expect(measured.use).toBeGreaterThanOrEqual(kind === 'sliding' ? 0.945 : 0.98)
      // A limit that has changed is looked at more often for a while.
      expect(measured.refusedShare).toBeLessThanOrEqual(0.007)
    }
  })
})

describe('when the limit is not what it seems', () => {
  it('continues after half a minute of refusals only', () => {
    const inner = always('fixed', { limitAt: () => 50, windowMs: second })
    const storm = (random: () => number): HiddenLimit => {
      const admits = inner(random)
      return (atMs) => (atMs < 5 * minute || atMs >= 5.5 * minute) && admits(atMs)
    }
    const scenario = { limit: storm, permitted: evenly(50, second), durationMs: 16 * minute }
    const measured = median(scenario, 13 * minute, 16 * minute, '50/s after a storm of 429')
    expect(measured.use).toBeGreaterThanOrEqual(0.97)
  })

  it('is not slowed by one unrelated refusal in a thousand', () => {
    const inner = always('fixed', { limitAt: () => 300, windowMs: minute })
    const moody = (random: () => number): HiddenLimit => {
      const admits = inner(random)
      return (atMs) => random() >= 0.001 && admits(atMs)
    }
    const scenario = { limit: moody, permitted: evenly(300, minute), durationMs: 60 * minute }
    const measured = median(scenario, 30 * minute, 60 * minute, '300/min with stray refusals')
    expect(measured.use).toBeGreaterThanOrEqual(0.97)
  })

  it('keeps up with windows that begin with their first request, and with a clock that drifts', () => {
    const fromFirst = (): HiddenLimit => {
      let beganAt = -minute
      let used = 0
      return (atMs) => {
        if (atMs >= beganAt + minute) {
          beganAt = atMs
          used = 0
        }
        return ++used <= 300
      }
    }
    const drifting = (random: () => number): HiddenLimit => {
      const admits = fixedWindow({ limitAt: () => 300, windowMs: minute }, random)
      return (atMs) => admits(atMs * 0.9998)
    }
    for (const [name, limit] of Object.entries({ fromFirst, drifting })) {
      const scenario = { limit, permitted: evenly(300, minute), durationMs: 90 * minute }
      const measured = median(scenario, 45 * minute, 90 * minute, `300/min ${name}`, allSeeds)
      expect(measured.use).toBeGreaterThanOrEqual(0.96)
      expect(measured.refusedShare).toBeLessThanOrEqual(0.006)
    }
  })
})
