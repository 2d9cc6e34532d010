import { describe, expect, it } from 'vitest'
import { meetEdge, nextEdge } from './edge.ts'
import { defaultLearnerSettings as settings, newLearner, type Learner } from './learner.ts'

const start = 1_800_000_000_000

/** A rate that was lowered to this by a refusal a second ago, and is refused again. */
const refused = (rate: number, also: Partial<Learner> = {}): Learner => ({
  ...newLearner(settings),
  phase: 'hold',
  rate,
  edge: { sentMs: start, ok: 100, limited: 2, isAfterRise: false },
  lastAtMs: start + 20_000,
  totals: { ok: 300, limited: 4 },
  refusedRun: { count: 1, firstSentMs: start, adjacent: 1, followsUntilMs: 0 },
  ...also,
})

function meet(learner: Learner) {
  const sentMs = start + 20_000
  return meetEdge(learner, 0.996 * learner.rate, sentMs, nextEdge(learner, sentMs))
}

describe('where a low limit is met while it is searched for', () => {
  it('a rate a little above a whole number is taken for that', () => {
    expect(meet(refused(10.15))).toEqual({ rate: 9.97, sureness: 0.3 })
    expect(meet(refused(17.2)).rate).toBeCloseTo(16.95)
  })

  it('no rate is that is further away, high, or sure, or known as a longer window', () => {
    for (const rate of [10.4, 25.1]) expect(meet(refused(rate)).rate).toBeGreaterThan(0.99 * rate)
    expect(meet(refused(10.15, { sureness: 1 })).rate).toBeCloseTo(0.996 * 10.15)
    const sliding = { lengthMs: 10_000, untilMs: start + 100_000 }
    expect(meet(refused(10.15, { sliding })).rate).toBeCloseTo(0.996 * 10.15)
  })

  it('nor one at which more was served since the last refusal than the whole number allows', () => {
    expect(meet(refused(10.15, { okRun: 50 })).rate).toBe(9.97)
    expect(meet(refused(10.15, { okRun: 120 })).rate).toBeGreaterThan(10)
  })

  it('a level that was found a moment ago does not hold a step back', () => {
    const edge = { sentMs: start + 18_000, ok: 280, limited: 2, isAfterRise: true }
    const unrest = { ...newLearner(settings).unrest, level: 12 }
    const since = (foundAtMs: number) => meet(refused(10.9, { edge, unrest: { ...unrest, foundAtMs } })).rate
    expect(since(start + 17_000)).toBeLessThan(10.5)
    expect(since(start - 60_000)).toBeGreaterThan(10.8)
  })
})
