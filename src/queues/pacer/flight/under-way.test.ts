import { describe, expect, it } from 'vitest'
import { isFullSize } from '../../../../test/support/full-size.ts'
import { inFlight } from '../shapes.ts'
import { percent, second, show } from '../simulation.fixture.ts'
import { seeded, simulate, type Measured } from '../simulation.ts'

const seeds = Array.from({ length: isFullSize ? 12 : 4 }, (_, index) => index + 1)
const fromMs = 30 * second
const toMs = 120 * second

interface Drawn {
  most: number
  serviceMs: number
  vary: number
  outboundMs: number
}

/** 2 to 20 at once, answers of 40 to 400 ms that vary by up to 40 %, and a way of 3 to 8 ms. */
function draw(random: () => number): Drawn {
  return {
    most: Math.round(2 + 18 * random()),
    serviceMs: 40 + 360 * random(),
    vary: 0.1 + 0.3 * random(),
    outboundMs: 3 + 5 * random(),
  }
}

function measure(seed: number, processes: number): Measured {
  const { most, serviceMs, vary, outboundMs } = draw(seeded(7_000 + seed))
  // The oracle knows the limit and sends a request the moment that it has an answer.
  const oraclePerMs = most / (serviceMs + 2 * outboundMs)
  const run = simulate({
    seed,
    limit: () => inFlight(most),
    permitted: (from, to) => oraclePerMs * (to - from),
    serviceMs: (random) => serviceMs * (1 + vary * (2 * random() - 1)),
    outboundMs,
    processes,
    durationMs: toMs,
  })
  const measured = run.between(fromMs, toMs)
  if (isFullSize) {
    const text = `${most} at once, ${Math.round(serviceMs)} ms ±${percent(vary)}, way ${outboundMs.toFixed(1)} ms ×${processes}`
    show(`    ${text}: use ${percent(measured.use)}, refused ${percent(measured.refusedShare)}`)
  }
  return measured
}

describe('against a limit on requests under way, with random parameters', () => {
  it.each([1, 2, 4])(
    '%i processes use ≥ 93 % of an oracle in the median, and ≤ 0.5 % are refused',
    (processes) => {
      const measured = seeds.map((seed) => measure(seed, processes))
      const uses = measured.map(({ use }) => use).sort((a, b) => a - b)
      const refusals = measured.map(({ refusedShare }) => refusedShare).sort((a, b) => a - b)
      const middle = Math.floor(seeds.length / 2)
      show(
        `  under way ×${processes}: use ${percent(uses[middle]!)} (least ${percent(uses[0]!)}), refused ${percent(refusals[middle]!)} (most ${percent(refusals.at(-1)!)})`,
      )
      expect(uses[middle]).toBeGreaterThanOrEqual(0.93)
      expect(uses[0]).toBeGreaterThanOrEqual(0.8)
      expect(refusals[middle]).toBeLessThanOrEqual(0.005)
    },
  )
})
