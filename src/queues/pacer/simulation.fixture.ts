import { isFullSize } from '../../../test/support/full-size.ts'
import {
  fixedWindow,
  outboundDelay,
  seeded,
  simulate,
  slidingWindow,
  tokenBucket,
  type LimitKind,
  type Measured,
  type Run,
  type Scenario,
} from './simulation.ts'

export const second = 1000
export const minute = 60_000
export const hour = 60 * minute
export const allSeeds = [1, 2, 3]
export const seeds = isFullSize ? allSeeds : [3]
const kinds = { fixed: fixedWindow, sliding: slidingWindow, bucket: tokenBucket }
export type KindName = keyof typeof kinds

export function always(kind: KindName, settings: LimitKind): Scenario['limit'] {
  return (random) => kinds[kind](settings, random)
}

export function evenly(limit: number, windowMs: number): Scenario['permitted'] {
  return (fromMs, toMs) => (limit * (toMs - fromMs)) / windowMs
}

/** Returns the medians of a scenario's runs. */
export function median(
  scenario: Omit<Scenario, 'seed'>,
  fromMs: number,
  toMs: number,
  name: string,
  /** For a scenario whose runs differ much: one of them says little. */
  of: readonly number[] = seeds,
): Measured {
  return medianOf(eachSeed(scenario, of), fromMs, toMs, name)
}

export function eachSeed(scenario: Omit<Scenario, 'seed'>, of: readonly number[] = seeds): Run[] {
  return of.map((seed) => simulate({ ...scenario, seed }))
}

export function medianOf(simulated: Run[], fromMs: number, toMs: number, name: string): Measured {
  const runs = simulated.map((run) => run.between(fromMs, toMs))
  const byUse = runs.map((r) => r.use).sort((a, b) => a - b)
  const byRefused = runs.map((r) => r.refusedShare).sort((a, b) => a - b)
  const middle = Math.floor(runs.length / 2)
  const measured = { ...runs[0]!, use: byUse[middle]!, refusedShare: byRefused[middle]! }
  show(`  ${name}: use ${percent(measured.use)}, refused ${percent(measured.refusedShare)}`)
  return measured
}

/**
 * Even pacing by a client that knows the limit, at the rate that serves most with at most half a percent refused; same
 * jitter.
 */
export function bestKnownPace(perSecond: number): number {
  let best = 0
  for (let rate = 0.9 * perSecond; rate <= 1.02 * perSecond; rate += 0.0025 * perSecond) {
    const random = seeded(1)
    const admits = slidingWindow({ limitAt: () => perSecond, windowMs: second })
    const requests = Math.round(rate * 600)
    const arrivals = Array.from(
      { length: requests },
      (_, i) => (i * second) / rate + outboundDelay(random),
    ).sort((a, b) => a - b)
    const served = arrivals.filter(admits).length
    if (1 - served / requests <= 0.005) best = Math.max(best, served / (600 * perSecond))
  }
  return best
}

/** Returns the value in the middle, the higher of two. */
export function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!
}

/** The figures are the point of this suite, so they are printed and not only asserted. */
export function show(line: string): void {
  process.stdout.write(`${line}\n`)
}

export function percent(share: number): string {
  return `${(100 * share).toFixed(2)} %`
}
