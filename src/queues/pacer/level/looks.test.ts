import { describe, expect, it } from 'vitest'
import type { Flight } from '../flight/flight.ts'
import { defaultLearnerSettings as settings, newLearner, type Learner, type Outcome } from '../learner.ts'
import { cutPerRefusal } from '../rate.ts'
import { learn, paceOf } from '../state.ts'
import { noLooks } from './look.ts'
import { isRestless } from './unrest.ts'

const start = 1_800_000_000_000
const rate = 10

/** A level of ten a second, found a while ago. */
const known: Learner = {
  ...newLearner(settings),
  phase: 'hold',
  rate,
  sureness: 1,
  unrest: { ...newLearner(settings).unrest, level: rate, foundAtMs: start - 60_000 },
}
const at = (atMs: number, kind: 'ok' | 'limited' = 'ok', sentAtMs = atMs): Outcome => ({
  atMs: start + atMs,
  sentAtMs: start + sentAtMs,
  kind,
  epoch: 0,
  busy: true,
  places: [],
})
/** Successes at the rate, until the pacer looks or so many seconds have passed. */
function served(before: Learner, fromMs: number, seconds: number): { learner: Learner; atMs: number } {
  let learner = before
  let atMs = fromMs
  while (learner.looks.from === 0 && atMs < fromMs + seconds * 1000) {
    atMs += 1000 / learner.rate
    learner = learn(learner, at(atMs), settings)
  }
  return { learner, atMs }
}

describe('a look above a level', () => {
  const looking = served(known, 0, 60)

  it('asks for half as much again, after a hundred requests', () => {
    expect(looking.learner.looks.from).toBeGreaterThanOrEqual(rate)
    expect(looking.learner.rate).toBeCloseTo(1.5 * looking.learner.looks.from)
    expect(looking.atMs).toBeGreaterThan(10_000)
    expect(looking.atMs).toBeLessThan(15_000)
  })

  it('lowers the rate as any refusal does when a window of that level refuses it, and waits for what was sent too early', () => {
    const { learner, atMs } = looking
    const after = learn(learner, at(atMs + 600, 'limited'), settings)
    expect(after.rate).toBe((1 - cutPerRefusal) * learner.looks.from)
    expect(after.sureness).toBe(learner.sureness)
    expect(after.unrest).toEqual(learner.unrest)
    expect(paceOf(after, start + atMs).notBeforeMs).toBeCloseTo(start + atMs + 600 + 300, 0)
    // The second refusal of the same look tells nothing more.
    expect(learn(after, at(atMs + 610, 'limited', atMs + 590), settings).rate).toBe(after.rate)
  })

  it('is of that window however late its answer comes', () => {
    const { learner, atMs } = looking
    const after = learn(learner, at(atMs + 820, 'limited', atMs + 720), settings)
    expect(after).toMatchObject({
      phase: learner.phase,
      sureness: learner.sureness,
    })
    expect(after.rate).toBe((1 - cutPerRefusal) * learner.looks.from)
  })

  // A refusal of a request that was prepared for 200 ms was taken for a higher level: the rate climbed by two thirds, and unrest began.
  it('is of that window by when it had its permit, however long it was prepared', () => {
    const { learner, atMs } = looking
    const prepared = { ...at(atMs + 820, 'limited'), grantedAtMs: start + atMs + 620 }
    const after = learn(learner, prepared, settings)
    expect(after.phase).toBe(learner.phase)
    expect(after.rate).toBe((1 - cutPerRefusal) * learner.looks.from)
    const before = { ...at(atMs + 120, 'limited'), grantedAtMs: start + atMs - 80 }
    expect(learn(learner, before, settings)).toMatchObject({ rate: after.rate, phase: 'hold', okRun: 0 })
  })

  it('is a refusal like any other when it is refused at once: the rate falls as little', () => {
    const { learner, atMs } = looking
    const after = learn(learner, at(atMs + 110, 'limited', atMs + 100), settings)
    const plain = learn(
      { ...learner, looks: noLooks, rate: learner.looks.from },
      at(atMs, 'limited'),
      settings,
    )
    expect(after.rate).toBe(plain.rate)
    expect(after.rate).toBe((1 - cutPerRefusal) * learner.looks.from)
    expect(after).toMatchObject({ phase: 'hold', okRun: 0, sureness: learner.sureness })
    expect(after.unrest).toEqual(learner.unrest)
  })

  // A rate was as unsure as if no look had met its limit: 0.50 % of 15 a second, evenly spaced, were refused in the mean.
  describe('of a rate that was refused since the last look', () => {
    const { learner, atMs } = looking
    const edge = { sentMs: start - 30_000, ok: 0, limited: 0, isAfterRise: false }
    const unsure: Learner = { ...learner, sureness: 0.3, edge }
    const ofRate: Partial<Flight> = { refused: [0, 2], surelyServed: [100, 50] }
    const sureAfter = (counts: Partial<Flight>, change: Partial<Learner> = {}, tookMs = 100) => {
      const one = { ...unsure, ...change, flight: { ...learner.flight, ...counts } }
      return learn(one, at(atMs + tookMs, 'limited'), settings).sureness
    }

    it('makes it surer when it is refused at once, as a refusal does', () => {
      expect(sureAfter(ofRate)).toBe(0.6)
    })

    // A neighbour who takes another part each second refuses it by chance.
    it('does not when it was refused later', () => {
      expect(sureAfter(ofRate, {}, 600)).toBe(0.3)
      expect(sureAfter(ofRate, {}, 2_000)).toBe(0.3)
      expect(sureAfter(ofRate, {}, 2_600)).toBe(0.3)
      expect(sureAfter(ofRate, {}, 1_200)).toBeLessThan(0.3)
    })

    // Sliding windows that rose by a tenth to four tenths were used at 87 % in place of 92.
    it('does not when the rate itself was not, nor when both refusals are of one moment', () => {
      expect(sureAfter(ofRate, { edge: null })).toBe(0.3)
      expect(sureAfter(ofRate, { refusalKnownMs: start + atMs + 50 })).toBe(0.3)
    })

    it('does not when ten quiet minutes came between', () => {
      const rested = learn({ ...unsure, looks: noLooks, lastAtMs: start }, at(601_000), settings)
      expect(rested.rate).toBeLessThan(unsure.rate)
      expect(rested.edge).toBeNull()
    })

    it('does not when nobody asked when a block would end', () => {
      const times = { sinceMs: start, lastFailMs: start, nextTrialMs: start + 1_000, trialGapMs: 1_000 }
      const block = { ...times, isAnnounced: false, places: [] }
      const blocked: Learner = { ...unsure, looks: noLooks, phase: 'blocked', block, lastAtMs: start }
      const endedAfter = (ms: number) => learn(blocked, at(ms), settings)
      expect(endedAfter(1_000)).toMatchObject({ block: null, edge })
      expect(endedAfter(60_000)).toMatchObject({ block: null, edge: null })
    })

    it('does not where a limit on requests under way is known, or may explain the refusals', () => {
      expect(sureAfter({ refused: [0, 2], surelyServed: [150, 0] })).toBe(0.3)
      expect(sureAfter({ refused: [], surelyServed: [100, 50] })).toBe(0.3)
      expect(sureAfter({ refused: [1], surelyServed: [100, 50] })).toBe(0.3)
      expect(sureAfter({ ...ofRate, limit: 4 })).toBe(0.3)
    })
  })

  it('is not taken in the midst of a climb, which would end with it', () => {
    const lookAfterClimbOf = (times: number) => {
      const climbing: Learner = { ...known, phase: 'probe', okRun: 640, probeFrom: rate / times }
      return served(climbing, 0, 15).learner.looks.from
    }
    expect(lookAfterClimbOf(1.03)).toBe(0)
    expect(lookAfterClimbOf(1.001)).toBeGreaterThan(0)
  })

  it('comes later each time that the level survives it, and not at all while the level is new', () => {
    const first = learn(looking.learner, at(looking.atMs + 600, 'limited'), settings)
    const second = served(first, looking.atMs + 1000, 60)
    expect(second.learner.looks.from).toBeGreaterThan(0)
    expect(second.atMs - looking.atMs - 1000).toBeGreaterThan(1.3 * looking.atMs)
    const found = { ...known, unrest: { ...known.unrest, foundAtMs: start } }
    expect(served(found, 0, 20).learner.looks.from).toBe(0)
  })

  it('that was refused later than the level known would be shows a higher one: the rate climbs to it', () => {
    const { learner, atMs } = looking
    const after = learn(learner, at(atMs + 1_200, 'limited'), settings)
    expect(after.rate).toBe(learner.looks.from)
    expect(after.phase).toBe('probe')
    expect(after.okRun).toBeGreaterThan(learner.okRun)
  })

  // A level of 11.3 was believed beside a bucket of 10: the rate went down from the climb by twenty refusals.
  it('that was refused later leaves no level known that is above the rate before it', () => {
    const { learner, atMs } = looking
    const levelAfter = (level: number) => {
      const one = { ...learner, unrest: { ...learner.unrest, level } }
      return learn(one, at(atMs + 1_200, 'limited'), settings).unrest.level
    }
    expect(levelAfter(11.3)).toBe(learner.looks.from)
    expect(levelAfter(9.5)).toBe(9.5)
    expect(levelAfter(14)).toBe(14)
  })

  it('tells nothing more by a request that had its permit then and was sent when the look was over', () => {
    const { learner, atMs } = looking
    const after = learn(learner, at(atMs + 1_200, 'limited'), settings)
    const prepared = { ...at(atMs + 1_300, 'limited'), grantedAtMs: start + atMs + 1_190 }
    expect(learn(after, prepared, settings)).toMatchObject({
      rate: after.rate,
      phase: 'probe',
      refusedRun: null,
    })
    const later = { ...prepared, grantedAtMs: start + atMs + 1_250 }
    expect(learn(after, later, settings).rate).toBeLessThan(after.rate)
  })

  it('that is served for longer than a full bucket explains shows that the limit changes', () => {
    const { learner: begun, atMs } = looking
    let learner = begun
    let nowMs = atMs
    while (learner.looks.from > 0 && nowMs < atMs + 10_000) {
      nowMs += 1000 / learner.rate
      learner = learn(learner, at(nowMs), settings)
      if (nowMs < atMs + 3_000) expect(learner.looks.from).toBeGreaterThan(0)
    }
    expect(nowMs - atMs).toBeLessThan(4_500)
    expect(isRestless(learner.unrest, start + nowMs)).toBe(true)
    expect(learner.rate).toBeGreaterThan(1.4 * rate)
  })

  it('lasts by its permits: what was prepared before it began is no part of it', () => {
    const { learner: begun, atMs } = looking
    const preparedMs = 250
    let learner = begun
    let nowMs = atMs
    while (learner.looks.from > 0 && nowMs < atMs + 10_000) {
      nowMs += 1000 / learner.rate
      learner = learn(learner, { ...at(nowMs), grantedAtMs: start + nowMs - preparedMs }, settings)
      if (nowMs < atMs + 3_000 + preparedMs) expect(learner.looks.from).toBeGreaterThan(0)
    }
    expect(nowMs - atMs).toBeLessThan(4_500)
  })

  it('that was refused later than a full bucket would be shows it as well', () => {
    const { learner, atMs } = looking
    const after = learn(learner, at(atMs + 2_600, 'limited'), settings)
    expect(isRestless(after.unrest, start + atMs + 2_600)).toBe(true)
    const sooner = learn(learner, at(atMs + 2_000, 'limited'), settings)
    expect(isRestless(sooner.unrest, start + atMs + 2_000)).toBe(false)
  })

  it('that is refused at once after two others is the last one: even spacing refuses each', () => {
    const afterLook = (tookMs: number) => {
      const learner = { ...looking.learner, looks: { ...looking.learner.looks, survived: 2 } }
      const after = learn(learner, at(looking.atMs + tookMs, 'limited'), settings)
      // So many requests as come after six looks.
      return served({ ...after, looks: { ...after.looks, oks: 1_400 } }, looking.atMs + 1000, 30)
    }
    expect(afterLook(100).learner.looks.from).toBe(0)
    expect(afterLook(600).learner.looks.from).toBeGreaterThan(0)
  })

  it('is none at a high rate, which climbs every few seconds, nor above a level that only held', () => {
    expect(served({ ...known, rate: 85 }, 0, 6).learner.looks.from).toBe(0)
    const held = { ...known, unrest: { ...known.unrest, isLeast: true } }
    expect(served(held, 0, 60).learner.looks.from).toBe(0)
  })
})
