import { describe, expect, it } from 'vitest'
import { addSuccess, type Checkpoint } from '../history.ts'
import { defaultLearnerSettings, newLearner } from '../learner.ts'
import { fixedWindow, seeded, simulate, slidingWindow, type LimitKind } from '../simulation.ts'
import { withPenalty } from '../shapes.ts'
import { percent, show } from '../simulation.fixture.ts'
import { evidenceOf } from './evidence.ts'
import { pulseCount, pulsePace, pulsesAfter, pulsesOf } from './pulses.ts'

/** A ramp that doubles each half second, refused at a fixed window. */
function ramp(limit: number, seed: number) {
  const phaseMs = 1_000 * seeded(seed)()
  const admits = fixedWindow({ limitAt: () => limit, windowMs: 1_000 }, seeded(seed))
  let history: Checkpoint[] = []
  let atMs = 100_000
  for (let rate = 5; ; rate *= 1 + Math.log(4) / rate) {
    atMs += 1_000 / rate
    if (!admits(atMs)) return { evidence: evidenceOf(history, atMs), phaseMs }
    history = addSuccess(history, atMs, { isFine: true })
  }
}

describe('pulses after a first refusal', () => {
  it.each([10, 20, 45, 60])('lie within the window of %i a second that has refused', (limit) => {
    for (let seed = 1; seed <= 40; seed++) {
      const { evidence, phaseMs } = ramp(limit, seed)
      const { fromMs, lengthMs, count } = pulsesAfter(evidence, 130_000, 0)
      const place = (atMs: number) => Math.floor((atMs + phaseMs) / 1_000)
      expect(place(fromMs)).toBe(place(fromMs + lengthMs))
      expect(fromMs).toBeGreaterThanOrEqual(130_000)
      expect(fromMs).toBeLessThan(131_000)
      expect(count).toBeLessThanOrEqual(limit)
    }
  })

  it('get their permits sooner by the time that a request is prepared', () => {
    const { evidence } = ramp(20, 3)
    const atOnce = pulsesAfter(evidence, 130_000, 0)
    const prepared = pulsesAfter(evidence, 130_000, 80)
    expect((atOnce.fromMs - prepared.fromMs + 1_000) % 1_000).toBeCloseTo(80)
  })

  it('grow by an eighth each second, of which the next is known before it begins', () => {
    const pulses = { fromMs: 5_000, lengthMs: 200, count: 20 }
    const counts = [4_000, 5_000, 5_999, 6_000, 7_100, 60_000].map((nowMs) => pulseCount(pulses, nowMs))
    expect(counts).toEqual([20, 20, 20, 22, 25, 1_000])
    expect(pulsePace(pulses, 6_300)).toEqual({
      intervalMs: 8,
      windows: [{ anchorMs: 5_000, lengthMs: 1_000, limit: 25, capIndex: 1, cap: 22 }],
    })
  })

  it('are not sent where a longer window or the server sets the pace', () => {
    const pulses = { fromMs: 0, lengthMs: 200, count: 5 }
    const times = { lengthMs: 3_000, sinceMs: 0, endedAtMs: 1, resumedAtMs: 1, evidence: [] }
    const learner = { ...newLearner(defaultLearnerSettings), suspicion: { ...times, pulses } }
    const headers = { resetAtMs: 10, intervalMs: 1, sentAtMs: 0 }
    const sliding = { lengthMs: 60_000, untilMs: 1 }
    expect(pulsesOf(learner)).toEqual(pulses)
    expect(pulsesOf({ ...learner, headers })).toBeUndefined()
    expect(pulsesOf({ ...learner, sliding })).toBeUndefined()
  })

  it('begin with a few where nothing was served before', () => {
    expect(pulsesAfter(evidenceOf([], 100_000), 130_000, 0).count).toBe(2)
  })
})

const kinds = {
  fixed: fixedWindow,
  sliding: (kind: LimitKind) => slidingWindow(kind),
}

// With even requests after the first refusal, 99 of 150 fixed windows reached 95 %, and 122 sliding ones.
it.each(['fixed', 'sliding'] as const)(
  'doors of 6 to 15 s, %s windows: nine in ten are used at 95 %',
  (kind) => {
    const uses = Array.from({ length: 50 }, (_, index) => {
      const dice = seeded(500 + index)
      const [rate, closedMs] = [Math.round(10 * 6 ** dice()), Math.round(6_000 * 2.5 ** dice())]
      const { between } = simulate({
        seed: index,
        limit: (random) =>
          withPenalty(kinds[kind]({ limitAt: () => rate, windowMs: 1_000 }, random), closedMs),
        permitted: (fromMs, toMs) => (rate * (toMs - fromMs)) / 1_000,
        outboundMs: 2,
        serviceMs: (random) => 40 + 440 * random(),
        durationMs: 240_000,
      })
      return between(60_000, 240_000).use
    })
    const sorted = uses.sort((a, b) => a - b)
    const reached = uses.filter((use) => use >= 0.95).length
    show(
      `  doors of 6 to 15 s, ${kind}: median ${percent(sorted[25]!)}, least ${percent(sorted[0]!)}, ${reached} of 50 at 95 %`,
    )
    expect(reached).toBeGreaterThanOrEqual(44)
  },
)
