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
function refusalOf(limit: HiddenLimit, fromMs: number, rate: number, growth: number, isFine = false) {
  let history: Checkpoint[] = []
  let atMs = fromMs
  for (let now = rate; ; now *= 1 + growth / now) {
    atMs += 1000 / now
    if (!limit(atMs)) return evidenceOf(history, atMs)
    history = addSuccess(history, atMs, { isFine })
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

  it('is exact where a window begins in a silence, also when requests overtake each other', () => {
    const limit = 30
    const ramp = refusalOf(limits.fixed!(limit, 5), 100_000, 5, Math.log(4))
    // Thirty-one requests 4 ms apart: the last one has overtaken the one before it, which was refused.
    const sent = Array.from({ length: limit + 1 }, (_, index) => 130_000 + 4 * index)
    const refusedMs = sent[limit - 1]!
    const history = sent
      .filter((atMs) => atMs !== refusedMs)
      .reduce<Checkpoint[]>((all, atMs) => addSuccess(all, atMs, { isFine: true }), [])
    const likely = candidates([ramp, evidenceOf(history, refusedMs)])
    const [most] = likely.sort((a, b) => b.weight - a.weight)
    expect(most).toMatchObject({ perSecond: limit, off: 0.1 })
  })

  it('is close to an even spacing: the last that was served was within it, the next one beyond', () => {
    for (const rate of [40, 70])
      for (const burst of [1, 3, 5]) {
        const { perSecond, off } = refusalOf(evenlySpaced(rate, burst), 100_000, 5, Math.log(4), true)
        expect(Math.abs(perSecond[burst]! / rate - 1)).toBeLessThan(0.02)
        expect(off[burst]! / rate).toBeLessThan(0.04)
      }
  })

  it('is found also where both refusals are off by more than usual', () => {
    const told = (perSecond: number) => ({ perSecond: [perSecond], off: [0.5] })
    const choice = choose([told(50), told(46)], 20_000)
    expect(choice?.perSecond).toBeGreaterThan(42)
    expect(choice?.perSecond).toBeLessThan(48)
    expect(choose([told(50), told(20)], 20_000)).toBeUndefined()
  })

  it('is used more carefully where requests arrive unevenly', () => {
    const limit = limits.fixed!(40, 5)
    const evidence = [refusalOf(limit, 100_000, 5, Math.log(4)), refusalOf(limit, 120_000, 20, 0.3)]
    const rate = (variesMs: number) => choose(evidence, 20_000, variesMs)!.perSecond
    expect(rate(15)).toBeLessThan(rate(2))
  })

  it('is used more carefully where a refusal costs more', () => {
    const limit = limits.fixed!(40, 5)
    const evidence = [refusalOf(limit, 100_000, 5, Math.log(4)), refusalOf(limit, 120_000, 20, 0.3)]
    expect(choose(evidence, 30_000)!.perSecond).toBeLessThanOrEqual(choose(evidence, 2_000)!.perSecond)
  })
})
