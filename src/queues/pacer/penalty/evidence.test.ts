import { describe, expect, it } from 'vitest'
import { addSuccess, type Checkpoint } from '../history.ts'
import { evenlySpaced } from '../shapes.ts'
import { fixedWindow, seeded, slidingWindow, tokenBucket, type HiddenLimit } from '../simulation.ts'
import { choose } from './choice.ts'
import { candidates, evidenceOf } from './evidence.ts'

const limits: Record<string, (rate: number, seed: number) => HiddenLimit> = {
  fixed: (rate, seed) => fixedWindow({ limitAt: () => rate, windowMs: 1000 }, seeded(seed)),
  sliding: (rate) => slidingWindow({ limitAt: () => rate, windowMs: 1000 }),
  bucket: (rate) => tokenBucket({ limitAt: () => rate, windowMs: 1000 }),
  'spaced, 3 extra': (rate) => evenlySpaced(rate, 3),
}

/** Sends faster and faster until a request is refused. */
function refusalOf(limit: HiddenLimit, fromMs: number, rate: number, growth: number) {
  let history: Checkpoint[] = []
  let atMs = fromMs
  for (let now = rate; ; now *= 1 + growth / now) {
    atMs += 1000 / now
    if (!limit(atMs)) return evidenceOf(history, atMs)
    history = addSuccess(history, atMs)
  }
}

const cases = Object.keys(limits).flatMap((kind) =>
  [15, 40, 80].flatMap((rate) => [1, 2, 3].map((seed) => ({ kind, rate, seed }))),
)

describe('what two refusals tell', () => {
  it.each(cases)(
    '$kind, $rate a second (seed $seed): the limit is among the candidates',
    ({ kind, rate, seed }) => {
      const limit = limits[kind]!(rate, seed)
      const ramp = refusalOf(limit, 100_000, 5, Math.log(4))
      const search = refusalOf(limit, 120_000, 0.5 * rate, 0.15)
      const near = candidates([ramp, search]).filter(({ perSecond }) => Math.abs(perSecond / rate - 1) < 0.05)
      const sum = near.reduce((all, { weight }) => all + weight, 0)
      expect(sum).toBeGreaterThan(0.03)
    },
  )

  it('is nothing while there is only one, and is forgotten when the limit has changed', () => {
    const before = refusalOf(limits.bucket!(80, 1), 100_000, 5, Math.log(4))
    const [after, again] = [
      refusalOf(limits.bucket!(20, 1), 200_000, 5, 1),
      refusalOf(limits.bucket!(20, 1), 300_000, 28, 0.0001),
    ]
    expect(choose([before], 5_000)).toBeUndefined()
    const choice = choose([before, after, again], 5_000)
    expect(choice?.explained).toEqual([after, again])
    expect(choice?.perSecond).toBeGreaterThan(17)
    expect(choice?.perSecond).toBeLessThan(21)
  })

  it.each([9, 13])('is a whole number, a margin below which the rate of %i a second stays', (rate) => {
    const limit = limits.fixed!(rate, 3)
    const evidence = [
      refusalOf(limit, 100_000, 5, Math.log(4)),
      refusalOf(limit, 200_000, 0.7 * rate, 0.15),
      refusalOf(limit, 300_000, 0.8 * rate, 0.4),
    ]
    const choice = choose(evidence, 5_000)
    expect(choice?.perSecond).toBeGreaterThan(0.97 * rate)
    expect(choice?.perSecond).toBeLessThan(rate)
  })

  it('is no whole number where all of it lies between two', () => {
    const told = { perSecond: [8.45], off: [0.05] }
    expect(candidates([told, told]).map(({ perSecond }) => perSecond)).toEqual([8.45])
  })

  it('is used more carefully where a refusal costs more', () => {
    const limit = limits.fixed!(40, 5)
    const evidence = [refusalOf(limit, 100_000, 5, Math.log(4)), refusalOf(limit, 120_000, 20, 0.3)]
    expect(choose(evidence, 30_000)!.perSecond).toBeLessThanOrEqual(choose(evidence, 2_000)!.perSecond)
  })
})
