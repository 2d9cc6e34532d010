import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  defaultLearnerSettings as settings,
  newLearner,
  readLearner,
  type Learner,
  type Outcome,
} from './learner.ts'
import { unlimited } from './flight/flight.ts'
import { calm } from './level/unrest.ts'
import { snapshotOf } from './snapshot.ts'
import { learn, paceOf } from './state.ts'
import { newWindow } from './windows.ts'

const start = 1_800_000_000_000

describe('snapshotOf', () => {
  it('says how many requests the service serves at a time, where it has shown that', () => {
    const learner = newLearner(settings)
    expect(snapshotOf(learner, start)).not.toHaveProperty('atOnce')
    const limited = { ...learner, flight: { ...unlimited, limit: 6 } }
    expect(snapshotOf(limited, start).atOnce).toBe(6)
  })
})

describe('learn', () => {
  it('doubles the rate every half second of use, and only when the pacer was the bottleneck', () => {
    const idle = run(newLearner(settings), 40, (i) => ok(i * 100, { busy: false }))
    expect(idle.rate).toBe(settings.initialPerSecond)
    const busy = run(newLearner(settings), 20, (i) => ok(i * 100))
    expect(busy.rate / settings.initialPerSecond).toBeGreaterThan(12)
    expect(busy.rate / settings.initialPerSecond).toBeLessThan(22)
  })

  it('sends single trials after the first refusal, and only the answer to a trial ends the block', () => {
    const blocked = learn(
      run(newLearner(settings), 40, (i) => ok(i * 100)),
      refused(4000),
      settings,
    )
    expect(blocked.phase).toBe('blocked')
    const pace = paceOf(blocked, start + 4000)
    expect(pace.notBeforeMs).toBeGreaterThan(start + 4000)
    const late = learn(blocked, ok(4100, { epoch: 0 }), settings)
    expect(late.phase).toBe('blocked')
    const open = learn(late, ok(4300, { epoch: pace.epoch }), settings)
    expect(open.phase).not.toBe('blocked')
    expect(paceOf(open, start + 4300).epoch).toBeGreaterThan(pace.epoch)
  })

  it('waits half a second with the trials of a first block where the ramp was refused low, and not later on', () => {
    const trialAfter = (rate: number, blockEndedMs = 0) => {
      const ramped = { ...newLearner(settings), rate, blockEndedMs, lastAtMs: start }
      return paceOf(learn(ramped, refused(1000), settings), start + 1000).notBeforeMs - start - 1000
    }
    expect(trialAfter(30)).toBe(500)
    expect(trialAfter(200)).toBe(100)
    expect(trialAfter(30, start)).toBe(100)
  })

  it('finds a minute by the length of the block, and its limit by what was served in it', () => {
    const ramped = run(newLearner(settings), 300, (i) => ok(i * 25))
    const blocked = learn(ramped, refused(7500), settings)
    const tried = learn(blocked, refused(57_000, { epoch: blocked.epoch }), settings)
    const open = learn(tried, ok(58_000, { epoch: tried.epoch }), settings)
    expect(open.windows).toMatchObject([{ lengthMs: 60_000, limit: 300, confirmed: false }])
    expect(paceOf(open, start + 58_000).intervalMs).toBeCloseTo(54_000 / 300)
  })

  it('lowers the rate a little with a refusal and raises it by the same amount over many successes', () => {
    const before = holding()
    const lower = learn(before, refused(1000), settings)
    expect(lower.rate).toBeLessThan(before.rate)
    expect(lower.rate).toBeGreaterThan(0.99 * before.rate)
    const again = run(lower, 320, (i) => ok(2000 + i * 20))
    expect(again.rate / before.rate).toBeCloseTo(1, 3)
  })

  it('goes down to the limit in one step while it searches, by the share that was refused between two edges', () => {
    const searching = { ...holding(), sureness: 0.1 }
    const first = learn(searching, refused(1000), settings)
    const served = run(first, 9, (i) => ok(1010 + i * 20))
    const second = learn(served, refused(1400), settings)
    expect(second.rate / served.rate).toBeLessThan(0.96)
    expect(second.rate / served.rate).toBeGreaterThan(0.93)
    // A rate that is sure goes on in small steps, and so does one whose state is of a program that knew no edges.
    const sure = learn({ ...served, sureness: 1 }, refused(1400), settings)
    expect(sure.rate / served.rate).toBeCloseTo(0.996, 3)
    const before = learn({ ...served, edge: null }, refused(1400), settings)
    expect(before.rate / served.rate).toBeCloseTo(0.996, 3)
  })

  it('takes no step for a refusal whose permit was given before the last one was known', () => {
    const first = learn({ ...holding(), sureness: 0.1 }, refused(1000), settings)
    const served = run(first, 9, (i) => ok(1010 + i * 20))
    const inTheLine = learn(served, refused(1400, { grantedAtMs: start + 990 }), settings)
    expect(inTheLine.rate / served.rate).toBeCloseTo(0.996, 3)
    const later = learn(served, refused(1400, { grantedAtMs: start + 1010 }), settings)
    expect(later.rate / served.rate).toBeLessThan(0.96)
  })

  it('searches as at first when unrest has lasted and the level is forgotten', () => {
    const unrest = { ...calm, level: 60, foundAtMs: start - 300_000, changes: 3, spread: 0.2 }
    const since = (farSinceMs: number) => ({ ...unrest, changedAtMs: start, farSinceMs })
    const restless = (farSinceMs: number) =>
      run({ ...holding(), unrest: since(farSinceMs) }, 250, (i) => ok(i * 20, { busy: false }))
    const long = learn(restless(start - 60_000), refused(5_010), settings)
    expect(long).toMatchObject({ sureness: 0.1, unrest: { level: 0, searches: 1 } })
    const short = learn(restless(start - 10_000), refused(5_010), settings)
    expect(short).toMatchObject({ sureness: 1, unrest: { searches: 0 } })
    expect(short.unrest.level).toBeGreaterThan(50)
  })

  it('climbs faster and faster without a refusal, to at most twice the rate in the first minute of a probe', () => {
    const before = holding()
    const after = run(before, 3000, (i) => ok(1000 + i * 20))
    expect(after.phase).toBe('probe')
    expect(after.rate).toBeGreaterThan(1.9 * before.rate)
    expect(after.rate).toBeLessThan(2.1 * before.rate)
  })

  it('begins a little lower after ten quiet minutes', () => {
    const before = holding()
    const after = learn(before, ok(700_000, { busy: false }), settings)
    expect(after.rate).toBeCloseTo(0.9 * before.rate)
  })

  it('keeps its limits and forgets its times when the clock is set back', () => {
    const before = learn(
      { ...holding(), lastAtMs: start + 3_600_000 },
      refused(3_600_000, { retryAfterMs: 30_000 }),
      settings,
    )
    const after = learn(before, ok(0, { epoch: before.epoch }), settings)
    expect(after.phase).not.toBe('blocked')
    expect(after.rate).toBeGreaterThan(0.05 * before.rate)
    expect(paceOf(after, start).notBeforeMs).toBeLessThanOrEqual(start)
  })

  it('goes on learning from refusals when the clock is set back, also under a penalty', () => {
    const penalty = {
      lengthMs: 5_000,
      refusedMs: start + 3_595_000,
      refusedRate: 60,
      resumedAtMs: start + 3_600_000,
      evidence: [],
      growth: 0,
      ceiling: 50,
      testAfter: 100,
      early: 0,
      leastRate: 1,
    }
    const ahead = { ...holding(), lastAtMs: start + 3_600_000, refusalKnownMs: start + 3_600_000 }
    const lowered = learn(learn(ahead, ok(0), settings), refused(1000), settings)
    expect(lowered).toMatchObject({ refusals: [{ atMs: start + 1000 }], refusalKnownMs: start + 1000 })
    const under = learn(learn({ ...ahead, penalty }, ok(0), settings), refused(1000), settings)
    expect(paceOf(under, start + 1000).notBeforeMs).toBe(start + 6000)
  })

  it('goes on testing a limit on requests under way when the clock is set back, and knows it as an old one', () => {
    const aheadMs = start + 3_600_000
    const times = { foundMs: aheadMs, testedAtMs: aheadMs, raisedAtMs: aheadMs, lastRefusedMs: aheadMs }
    const flight = { ...unlimited, ...times, limit: 8, foundAs: 8, servedAtLimit: 150, testAfter: 150 }
    const after = learn({ ...holding(), flight, lastAtMs: aheadMs }, ok(0), settings).flight
    expect(after).toMatchObject({ limit: 8, foundMs: 0, raisedAtMs: 0, lastRefusedMs: 0, testedAtMs: start })
  })

  it('reads what an older version has stored, and learns its penalty anew', () => {
    const { edge, ...older } = {
      ...holding(),
      penalty: { lengthMs: 5_000, sureRate: 45 },
      suspicion: { lengthMs: 5_000 },
    }
    expect(edge).toBeNull()
    expect(readLearner(JSON.stringify(older), settings)).toEqual(holding())
    const suspicion = { lengthMs: 5_000, evidence: [], pulses: { fromMs: 0, lengthMs: 200, count: 20 } }
    expect(readLearner(JSON.stringify({ ...holding(), suspicion }), settings).suspicion).toBeNull()
    const pulses = { fromMs: 0, intervalMs: 7, index: 0, count: 20, next: 20, second: 30 }
    const times = { sinceMs: 0, endedAtMs: 1, resumedAtMs: 1 }
    const searching = {
      ...holding(),
      suspicion: { ...suspicion, ...times, pulses },
      way: { tookMs: 9, variesMs: 2, trials: 7 },
    }
    expect(readLearner(JSON.stringify(searching), settings)).toEqual(searching)
    const { latest, ...flight } = { ...unlimited, limit: 6 }
    const { loweredAtMs, ...window } = newWindow(start, 60_000, 300)
    expect({ latest, loweredAtMs }).toEqual({ latest: [], loweredAtMs: 0 })
    const read = readLearner(JSON.stringify({ ...holding(), flight, windows: [window] }), settings)
    expect(read).toMatchObject({
      flight: { limit: 6, latest: [] },
      windows: [{ limit: 300, loweredAtMs: 0 }],
    })
  })

  it('pauses for a Retry-After, and provokes refusals more rarely when each costs that much', () => {
    const short = learn(holding(), refused(1000, { retryAfterMs: 1000 }), settings)
    expect(paceOf(short, start + 1000).notBeforeMs).toBe(start + 2000)
    expect(short.okPerRefusal).toBeGreaterThan(1000)
    const long = learn(holding(), refused(1000, { retryAfterMs: 30_000 }), settings)
    expect(paceOf(long, start + 1000).notBeforeMs).toBe(start + 31_000)
    const absurd = learn(holding(), refused(1000, { retryAfterMs: 1e12 }), settings)
    expect(paceOf(absurd, start).notBeforeMs).toBeLessThanOrEqual(start + 1000 + 86_400_000)
  })

  it('spreads what RateLimit headers say remains to the reset, less the requests in flight', () => {
    const informed = learn(
      holding(),
      ok(1000, { rateLimit: { remaining: 100, resetMs: 10_000, limit: 600 } }),
      settings,
    )
    // The answer took 100 ms, in which five more requests were sent at 50 a second.
    expect(paceOf(informed, start + 1000).intervalMs).toBeCloseTo(10_000 / 95, 1)
    const stale = learn(informed, ok(900, { rateLimit: { remaining: 600, resetMs: 10_000 } }), settings)
    expect(paceOf(stale, start + 1000).intervalMs).toBeCloseTo(10_000 / 95, 1)
    const spent = learn(informed, ok(1200, { rateLimit: { remaining: 0, resetMs: 9000 } }), settings)
    expect(paceOf(spent, start + 1200).notBeforeMs).toBe(start + 10_200)
  })

  it('stays within its settings and always opens again, for any reports in any order (seed 20260101)', () => {
    const outcome = fc.record({
      afterMs: fc.integer({ min: -2000, max: 90_000 }),
      latencyMs: fc.integer({ min: 0, max: 5000 }),
      kind: fc.constantFrom('ok' as const, 'limited' as const),
      behind: fc.integer({ min: 0, max: 2 }),
      busy: fc.boolean(),
      ordinal: fc.integer({ min: 1, max: 500 }),
      retryAfterMs: fc.option(fc.integer({ min: -5, max: 1e9 }), { nil: undefined }),
      remaining: fc.option(fc.integer({ min: -3, max: 1000 }), { nil: undefined }),
    })
    fc.assert(
      fc.property(fc.array(outcome, { maxLength: 300 }), (outcomes) => {
        let learner = newLearner(settings)
        let nowMs = start
        for (const o of outcomes) {
          nowMs += o.afterMs
          const sentAtMs = nowMs - o.latencyMs
          const places = paceOf(learner, nowMs).windows.map((w) => ({
            anchorMs: w.anchorMs,
            lengthMs: w.lengthMs,
            index: Math.floor((sentAtMs - w.anchorMs) / w.lengthMs),
            ordinal: o.ordinal,
          }))
          const rateLimit =
            o.remaining === undefined ? undefined : { remaining: o.remaining, resetMs: o.latencyMs }
          learner = learn(
            learner,
            {
              atMs: nowMs,
              sentAtMs,
              kind: o.kind,
              epoch: learner.epoch - o.behind,
              busy: o.busy,
              places,
              retryAfterMs: o.retryAfterMs,
              rateLimit,
            },
            settings,
          )
          const pace = paceOf(learner, nowMs)
          expect(learner.rate).toBeGreaterThanOrEqual(settings.minPerSecond)
          expect(learner.rate).toBeLessThanOrEqual(settings.maxPerSecond)
          expect(pace.intervalMs).toBeGreaterThan(0)
          expect(pace.intervalMs).toBeLessThanOrEqual(86_400_000)
          expect(pace.notBeforeMs - nowMs).toBeLessThanOrEqual(2 * 86_400_000)
          for (const w of pace.windows) expect(w.limit).toBeGreaterThanOrEqual(1)
          expect(JSON.parse(JSON.stringify(learner))).toEqual(learner)
        }
      }),
      { seed: 20_260_101, numRuns: 300 },
    )
  })
})

function holding(): Learner {
  return { ...newLearner(settings), phase: 'hold', rate: 50, sureness: 1, lastAtMs: start }
}

function run(learner: Learner, times: number, outcome: (i: number) => Outcome): Learner {
  let now = learner
  for (let i = 0; i < times; i++) now = learn(now, outcome(i), settings)
  return now
}

function ok(afterMs: number, more: Partial<Outcome> = {}): Outcome {
  return {
    atMs: start + afterMs,
    sentAtMs: start + afterMs - 100,
    kind: 'ok',
    epoch: 0,
    busy: true,
    places: [],
    ...more,
  }
}

function refused(afterMs: number, more: Partial<Outcome> = {}): Outcome {
  return { ...ok(afterMs, more), sentAtMs: start + afterMs - 10, kind: 'limited' }
}
