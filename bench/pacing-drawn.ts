import type { Rule, Shape } from './limit-server.ts'
import { scenario, type PacingScenario } from './pacing-scenarios.ts'

/**
 * Limits of each shape with parameters that a seed draws from the ranges of the goals, in waves as those of `pacingWaves`. The pacer
 * was not made with any of them in view: another seed is another judge.
 */
export function drawnWaves(seed: number): PacingScenario[][] {
  const random = numbers(seed)
  const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const spread = (from: number, to: number) => Math.round(from * (to / from) ** random())
  const limit = (
    label: string,
    goal: string,
    learnSeconds: number,
    seconds: number,
    served: number,
    shape?: Shape,
  ) => {
    const rule: Rule = { kind: 'fixed', limit: served, windowMs: 1_000, ...(shape && { shape }) }
    return scenario('drawn', label, goal, 1, learnSeconds, [[rule], seconds])
  }

  function spaced() {
    const [perSecond, burst] = [spread(10, 110), whole(1, 5)]
    const label = `${perSecond} a second, spaced, ${burst} extra`
    return limit(label, '95 / 0.5', 30, 120, perSecond, { kind: 'spaced', perSecond, burst })
  }
  function penalty() {
    const [perSecond, penaltyMs] = [spread(10, 60), spread(2_000, 30_000)]
    const label = `${perSecond} a second, ${penaltyMs / 1_000} s closed after a refusal`
    return limit(label, '95', 60, 240, perSecond, { kind: 'penalty', perSecond, penaltyMs })
  }
  function atOnce() {
    const [most, serviceMs] = [spread(2, 20), spread(40, 400)]
    const label = `${most} at once, ${serviceMs} ms each`
    return limit(label, '93 / 0.5', 30, 90, (most * 1_000) / serviceMs, { kind: 'at-once', most, serviceMs })
  }
  function breathing() {
    const [low, halfSeconds] = [spread(5, 20), spread(30, 120)]
    const label = `${3 * low} and ${low} a second, ${halfSeconds} s each`
    const periodMs = 2_000 * halfSeconds
    return limit(label, '85', 40, 40 + 2 * halfSeconds, 2 * low, {
      kind: 'breathing',
      high: 3 * low,
      low,
      periodMs,
    })
  }
  function neighbour() {
    const [perSecond, most, turnMs] = [spread(20, 60), whole(30, 60) / 100, spread(2_000, 15_000)]
    const label = `${perSecond} a second, a neighbour takes up to ${100 * most} % for ${turnMs / 1_000} s`
    const served = Math.round(perSecond * (1 - most / 2))
    return limit(label, '90', 30, 180, served, { kind: 'neighbour', perSecond, most, turnMs })
  }
  const cold = (perSecond: number) =>
    limit(`first 30 s, ${perSecond} a second, fixed`, '85 / 2', 0, 31, perSecond)

  return [
    [spaced(), penalty(), neighbour()],
    [spaced(), atOnce(), breathing()],
    [atOnce(), penalty()],
    [cold(spread(10, 60)), cold(spread(60, 200))],
  ]
}

/** mulberry32. */
function numbers(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d_2b_79_f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
