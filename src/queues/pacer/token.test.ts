import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmbeddedRedis } from '../embedded-redis.ts'
import { readTakeReply } from './shared-state.ts'
import { takeScript } from './token-script.ts'
import { blockMs, defaultTokenSettings, emptyMeter, takeTokens, type Meter, type Pace } from './token.ts'

const pace: Pace = { intervalMs: 100, notBeforeMs: 0, setAtMs: 0, epoch: 3, windows: [] }
const settings = defaultTokenSettings
const start = 1_800_000_000_000.125

describe('takeTokens', () => {
  it('grants one request an interval, and those due within the horizon ahead', () => {
    const first = takeTokens(
      emptyMeter,
      { ...pace, intervalMs: 8 },
      start,
      { hot: 0, background: 50 },
      { ...settings, slackMs: 0 },
    )
    expect(first.grants.map((g) => g.atMs - start)).toEqual([0, 8, 16])
    expect(first.backgroundWaitMs).toBe(24)
  })

  it('grants a block to a process that asks for one, each permit at its planned time', () => {
    const wanted = { hot: 0, background: 500 }
    const fine = { ...pace, intervalMs: 2 }
    const ahead = { ...settings, horizonMs: blockMs, slackMs: 0 }
    const first = takeTokens(emptyMeter, fine, start, wanted, ahead)
    expect(first.grants.map((g) => g.atMs - start)).toEqual(Array.from({ length: 26 }, (_, i) => 2 * i))
    const next = takeTokens(first.meter, fine, start + 10, wanted, ahead)
    expect(next.grants.map((g) => g.atMs - start)).toEqual([52, 54, 56, 58, 60])
    // A caller that takes no blocks, as after the pace has become coarse, is granted none of that time a second time.
    const coarse = takeTokens(first.meter, { ...pace, intervalMs: 10 }, start + 1, wanted, settings)
    expect(coarse.grants).toEqual([])
    expect(coarse.backgroundWaitMs).toBe(59)
  })

  it('keeps the schedule when the caller comes a little late, and drops unused tokens', () => {
    const late = { ...emptyMeter, lastAtMs: start }
    expect(takeTokens(late, pace, start + 130, { hot: 0, background: 1 }, settings).grants[0]).toMatchObject({
      atMs: start + 100,
      busy: true,
    })
    expect(takeTokens(late, pace, start + 5000, { hot: 0, background: 9 }, settings).grants).toHaveLength(1)
  })

  it('begins anew after a stall where a refusal closes the door', () => {
    const strict = { ...pace, beginsAnew: true as const }
    const late = { ...emptyMeter, lastAtMs: start }
    const at = (lateMs: number) => {
      const { grants, backgroundWaitMs } = takeTokens(
        late,
        strict,
        start + 100 + lateMs,
        { hot: 0, background: 9 },
        settings,
      )
      return [...grants.map(({ atMs }) => atMs - start - 100 - lateMs), backgroundWaitMs]
    }
    // A little late, the schedule is kept.
    expect(at(30)).toEqual([-30, 70])
    expect(at(160)).toEqual([0, 100])
  })

  it('gives the next token to hot work while the background lane yields', () => {
    const meter = { ...emptyMeter, lastAtMs: start }
    const claimed = takeTokens(meter, pace, start + 10, { hot: 1, background: 1 }, settings)
    expect(claimed.grants).toEqual([])
    const background = takeTokens(claimed.meter, pace, start + 95, { hot: 0, background: 5 }, settings)
    expect(background.grants).toEqual([])
    const hot = takeTokens(background.meter, pace, start + 96, { hot: 1, background: 5 }, settings)
    expect(hot.grants.map((g) => g.lane)).toEqual(['hot'])
  })

  it('leaves a share to hot work only while hot work is present', () => {
    const quiet = takeTokens(
      { ...emptyMeter, lastAtMs: start },
      pace,
      start + 1,
      { hot: 0, background: 1 },
      settings,
    )
    expect(quiet.backgroundWaitMs).toBeCloseTo(99)
    const present = { ...emptyMeter, lastAtMs: start, hotUntilMs: start + 500 }
    expect(
      takeTokens(present, pace, start + 1, { hot: 0, background: 1 }, settings).backgroundWaitMs,
    ).toBeCloseTo(124)
  })

  it('continues immediately after the clock was set back', () => {
    const meter = { ...emptyMeter, lastAtMs: start, hotUntilMs: start + 1000 }
    const back = start - 3_600_000
    const closed = { ...pace, notBeforeMs: start + 250, setAtMs: start }
    const answer = takeTokens(meter, closed, back, { hot: 0, background: 1 }, settings)
    expect(answer.backgroundWaitMs).toBeLessThanOrEqual(250)
  })

  it('never grants more in a window than it permits, and continues when the next one begins', () => {
    const windows = [{ anchorMs: start, lengthMs: 10_000, limit: 3, capIndex: -1, cap: 0 }]
    let meter: Meter = emptyMeter
    const at: number[] = []
    for (let now = start; now < start + 19_000; now += 10) {
      const answer = takeTokens(
        meter,
        { ...pace, windows },
        now,
        { hot: 0, background: 1 },
        { ...settings, slackMs: 0 },
      )
      meter = answer.meter
      at.push(...answer.grants.map((g) => Math.round(g.atMs - start)))
    }
    expect(at).toEqual([0, 100, 200, 10_000, 10_100, 10_200])
  })
})

describe('the take script', () => {
  let server: Awaited<ReturnType<typeof startEmbeddedRedis>>
  let redis: Redis
  beforeAll(async () => {
    server = await startEmbeddedRedis()
    redis = new Redis(server.url, { maxRetriesPerRequest: 1 })
  })
  afterAll(async () => {
    redis.disconnect()
    await server.stop()
  })

  it.each([1, 2, 3, 4, 5, 6])('returns the same as the model (seed %i)', async (seed) => {
    const random = mulberry(seed)
    const pick = (low: number, high: number) => low + Math.floor(random() * (high - low + 1))
    let now = start
    let meter: Meter = emptyMeter
    const key = `model:${seed}`
    let current: Pace = pace
    for (let step = 0; step < 150; step++) {
      if (random() < 0.01) now -= pick(0, 20_000)
      now += random() < 0.1 ? pick(0, 9000) + random() : pick(0, 60) + random()
      if (step % 10 === 0) {
        current = {
          intervalMs: (random() < 0.3 ? pick(0, 3) : pick(1, 400)) + random(),
          notBeforeMs: random() < 0.2 ? now + pick(0, 300) : 0,
          setAtMs: now + (random() < 0.2 ? pick(0, 400) : 0),
          epoch: step,
          ...(random() < 0.3 && { beginsAnew: true as const }),
          windows: [5000, 60_000].slice(0, pick(0, 2)).map((lengthMs) => ({
            anchorMs: start + pick(0, 4) + 0.7,
            lengthMs,
            limit: pick(1, 40),
            capIndex: random() < 0.3 ? Math.floor((now - start) / lengthMs) : -1,
            cap: pick(0, 60),
          })),
        }
        await redis.hset(key, 'pace', JSON.stringify(current), 'version', '7')
      }
      const horizonMs = random() < 0.3 ? blockMs : settings.horizonMs
      const wanted = {
        hot: random() < 0.2 ? pick(1, 3) : 0,
        background: random() < 0.2 ? pick(20, 60) : pick(0, 8),
      }
      const expected = takeTokens(meter, current, now, wanted, { ...settings, horizonMs })
      meter = expected.meter
      const { slackMs, hotShare, hotPresenceMs } = settings
      const reply = await redis.eval(
        takeScript,
        1,
        key,
        wanted.hot,
        wanted.background,
        horizonMs,
        slackMs,
        hotShare,
        '',
        '',
        now,
        hotPresenceMs,
      )
      const answer = readTakeReply(reply as Parameters<typeof readTakeReply>[0])
      expect(answer, `seed ${seed} step ${step}`).toEqual({
        nowMs: now,
        version: '7',
        hotWaitMs: expected.hotWaitMs,
        backgroundWaitMs: expected.backgroundWaitMs,
        intervalMs: current.intervalMs,
        grants: expected.grants,
      })
    }
  })
})

function mulberry(seed: number): () => number {
  let a = seed
  return () => {
    a = (a + 0x6d2b79f5) | 0
    let t = Math.imul(a ^ (a >>> 15), 1 | a)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
