import { describe, expect, it } from 'vitest'
import { defaultLearnerSettings as settings, newLearner, type Learner, type Outcome } from '../learner.ts'
import { learn, paceOf } from '../state.ts'
import { noteRise } from './restless.ts'
import { calm, type Unrest } from './unrest.ts'

const start = 1_800_000_000_000
const rate = 20
const unrest: Unrest = {
  ...calm,
  level: rate,
  foundAtMs: start - 60_000,
  changes: 2,
  changedAtMs: start,
}
const restless: Learner = { ...newLearner(settings), phase: 'hold', rate, sureness: 1, unrest }
const steady: Learner = { ...restless, unrest: { ...unrest, changes: 0 } }
const at = (atMs: number, kind: 'ok' | 'limited' = 'ok'): Outcome => ({
  atMs: start + atMs,
  sentAtMs: start + atMs,
  kind,
  epoch: 0,
  busy: true,
  places: [],
})
const refusedAfter = (share: number): Learner => ({
  ...restless,
  phase: 'probe',
  probeFrom: rate,
  rate: share * rate,
})
const after = (rises: readonly number[]) =>
  rises.reduce((before, share) => noteRise(before, refusedAfter(share)), unrest)

/** Successes until the rate begins to double. */
function secondsToRise(learner: Learner): number {
  let [next, oks] = [learner, 0]
  while (next.phase === 'hold' && oks < 1_000) next = learn(next, at((++oks * 1000) / rate), settings)
  return oks / rate
}

describe('while the limit keeps changing', () => {
  it('a rise begins sooner where the last ones found much, and as before where they find little', () => {
    expect(secondsToRise(restless)).toBeCloseTo(1.1, 1)
    const found = after([1.8, 1.9])
    expect(secondsToRise({ ...restless, unrest: found })).toBeCloseTo(0.55, 1)
    expect(noteRise(found, refusedAfter(1.1)).quietSeconds).toBeGreaterThan(found.quietSeconds)
    expect(after([1.8, 1.9, 1.7, 1.1, 1.1, 1.1]).quietSeconds).toBe(calm.quietSeconds)
  })

  it('a rise begins no sooner than after half a second, and no refusal but that of a rise tells', () => {
    expect(after(Array.from({ length: 50 }, () => 2)).quietSeconds).toBe(0.5)
    expect(noteRise(unrest, restless)).toBe(unrest)
    const once = learn(refusedAfter(1.8), at(1_000, 'limited'), settings)
    expect(once.unrest.quietSeconds).toBeLessThan(calm.quietSeconds)
    const calmly = { ...refusedAfter(1.8), unrest: steady.unrest }
    expect(learn(calmly, at(1_000, 'limited'), settings).unrest.quietSeconds).toBe(calm.quietSeconds)
  })

  it('a refusal is answered by a pause twice as long', () => {
    const pauseMs = (learner: Learner) => {
      const refused = learn(learner, at(1_000, 'limited'), settings)
      return paceOf(refused, start + 1_000).notBeforeMs - start - 1_000
    }
    expect(pauseMs(steady)).toBeCloseTo(1000 / rate)
    expect(pauseMs(restless)).toBeCloseTo((2 * 1000) / rate)
  })
})
