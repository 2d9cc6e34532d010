/** Pauses that a refusal announces, and refusals that last: what they must not be taken for. */
import { describe, expect, it } from 'vitest'
import { isFullSize } from '../../../test/support/full-size.ts'
import { always, evenly, minute, percent, second, show, type KindName } from './simulation.fixture.ts'
import { simulate, type HiddenLimit, type Run, type Scenario } from './simulation.ts'

const seeds = Array.from({ length: isFullSize ? 16 : 3 }, (_, index) => index + 1)

function runs(limit: Scenario['limit'], permitted: Scenario['permitted'], minutes: number): readonly Run[] {
  return seeds.map((seed) => simulate({ seed, limit, permitted, durationMs: minutes * minute, workers: 50 }))
}

function figures(name: string, of: readonly Run[], fromMinute: number, toMinute: number) {
  const measured = of.map((run) => run.between(fromMinute * minute, toMinute * minute))
  const uses = measured.map(({ use }) => use).sort((a, b) => a - b)
  const refused = measured.map(({ refusedShare }) => refusedShare).sort((a, b) => a - b)
  const [least, use] = [uses[0]!, uses[Math.floor(uses.length / 2)]!]
  show(
    `  ${name}: use ${percent(use)} (least ${percent(least)}), refused at most ${percent(refused.at(-1)!)}`,
  )
  return { least, use, mostRefused: refused.at(-1)! }
}

/** Each refusal announces the same pause. */
const announcing = (kind: KindName, perSecond: number, retryAfterMs: number): Scenario['limit'] => {
  const limit = always(kind, { limitAt: () => perSecond, windowMs: second })
  return (random) => Object.assign(limit(random), { retryAfterMs: () => retryAfterMs })
}

/** Refuses everything between two times, and announces a pause or none. */
function outage(fromMs: number, toMs: number, retryAfterMs?: number): Scenario['limit'] {
  return (random) => {
    const admits = always('bucket', { limitAt: () => 20, windowMs: second })(random)
    const limit: HiddenLimit = (atMs) => (atMs < fromMs || atMs >= toMs) && admits(atMs)
    return retryAfterMs === undefined ? limit : Object.assign(limit, { retryAfterMs: () => retryAfterMs })
  }
}

describe('a pause of a second after each refusal', () => {
  // A refusal costs twenty requests here: a rise every few seconds, as a limit that changes has them, never came to an end.
  it.each(['fixed', 'sliding', 'bucket'] as const)('does not keep the search going: %s', (kind) => {
    const of = runs(announcing(kind, 20, second), evenly(20, second), 6)
    const { use, least, mostRefused } = figures(`Retry-After 1, 20 a second, ${kind}`, of, 2, 6)
    expect(use).toBeGreaterThanOrEqual(0.92)
    expect(least).toBeGreaterThanOrEqual(0.75)
    expect(mostRefused).toBeLessThanOrEqual(0.02)
  })
})

describe('a single refusal that asks for a long pause', () => {
  it('is not taken for a window that is used up', () => {
    const limit = (random: () => number): HiddenLimit => {
      const admits = always('bucket', { limitAt: () => 20, windowMs: second })(random)
      let isOver = false
      const refusesOnce: HiddenLimit = (atMs) => {
        if (isOver || atMs < 5 * minute) return admits(atMs)
        isOver = true
        return false
      }
      return Object.assign(refusesOnce, {
        retryAfterMs: (atMs: number) => (atMs >= 5 * minute && atMs < 5 * minute + second ? minute : 0),
      })
    }
    const of = runs(limit, evenly(20, second), 24)
    expect(figures('one Retry-After of a minute, the two after it', of, 6, 8).use).toBeGreaterThanOrEqual(0.6)
    expect(figures('one Retry-After of a minute, later', of, 10, 24).least).toBeGreaterThanOrEqual(0.97)
  })
})

describe('a service that refuses everything for a while', () => {
  it('is used fully again, and what it refuses later is not taken for the end of a window', () => {
    const of = runs(outage(minute, 2 * minute), evenly(20, second), 36)
    expect(figures('a minute of refusals, the ten before the last', of, 14, 24).least).toBeGreaterThanOrEqual(
      0.88,
    )
    expect(figures('a minute of refusals, the last', of, 24, 36).least).toBeGreaterThanOrEqual(0.97)
  })

  it('is tried ever more rarely, though it announces no pause at all', () => {
    const of = runs(outage(minute, 11 * minute, 0), evenly(20, second), 11)
    const tried = of.map((run) => run.between(minute, 11 * minute).sent)
    expect(Math.max(...tried)).toBeLessThanOrEqual(150)
  })
})
