import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { encodeGrant } from './grant.ts'
import { defaultLearnerSettings, newLearner, type Learner } from './learner.ts'
import { createReports, holdMs } from './reports.ts'
import type { Commit, SharedState } from './shared-state.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const settings = defaultLearnerSettings

/** A Redis that counts what it is sent. `other` commits as another process would. */
function sharedAt(perSecond: number) {
  let learner: Learner = { ...newLearner(settings), phase: 'hold', rate: perSecond }
  let version = 0
  /** The clock of Redis minus that of the process, and how long an answer is on its way back. */
  const clock = { aheadMs: 0, backMs: 0 }
  const sent: string[] = []
  const shared = {
    async read() {
      sent.push('read')
      return { nowMs: performance.now(), version: String(version), learner }
    },
    async commit(known: string, next: Learner): Promise<Commit> {
      const isStored = known === String(version)
      sent.push(isStored ? `commit of ${next.totals.ok + next.totals.limited}` : 'lost race')
      if (isStored) [version, learner] = [version + 1, next]
      const answer = { version: String(version), nowMs: performance.now() + clock.aheadMs }
      if (clock.backMs > 0) await new Promise((resolve) => setTimeout(resolve, clock.backMs))
      return isStored ? { ...answer, isStored } : { ...answer, isStored, learner }
    },
  } as unknown as SharedState
  return {
    shared,
    sent,
    clock,
    now: () => ({ version: String(version), learner }),
    other() {
      version += 1
      learner = { ...learner, totals: { ...learner.totals, ok: learner.totals.ok + 1 } }
    },
  }
}

function outcome(kind: 'ok' | 'limited') {
  const grant = { atMs: performance.now(), lane: 'background', epoch: 0, busy: false, places: [] } as const
  return { grantId: encodeGrant(grant, 'c0ffee'), kind }
}

async function started(perSecond: number) {
  const redis = sharedAt(perSecond)
  const reports = createReports(redis.shared, settings, 50)
  void reports.add(outcome('ok'), performance.now())
  await vi.advanceTimersByTimeAsync(50)
  redis.sent.length = 0
  return { ...redis, reports, add: (kind: 'ok' | 'limited') => reports.add(outcome(kind), performance.now()) }
}

test('successes are held for 50 ms at a low pace, and for 90 ms at a high one', async () => {
  for (const [perSecond, heldMs] of [
    [100, 50],
    [900, 90],
  ] as const) {
    const { add, sent } = await started(perSecond)
    void add('ok')
    await vi.advanceTimersByTimeAsync(heldMs - 1)
    void add('ok')
    expect(sent).toEqual([])
    await vi.advanceTimersByTimeAsync(1)
    expect(sent).toEqual(['commit of 3'])
  }
})

test('a refusal is told at once at any pace, and takes along what is held', async () => {
  const { add, sent } = await started(900)
  void add('ok')
  await add('limited')
  expect(sent).toEqual(['commit of 3'])
})

test('an answer that was long on its way does not move the times of requests, and a clock that was set does', async () => {
  const { add, clock, now } = await started(100)
  const told = async () => {
    const atMs = performance.now()
    const added = add('limited')
    await vi.advanceTimersByTimeAsync(100)
    await added
    return now().learner.lastAtMs - atMs
  }
  clock.backMs = 40
  await told()
  expect(await told()).toBe(0)
  clock.aheadMs = 1_000
  await told()
  const off = await told()
  expect(off).toBeGreaterThanOrEqual(980)
  expect(off).toBeLessThanOrEqual(1_020)
  // The first answer that comes back soon knows better.
  clock.backMs = 0
  await told()
  expect(await told()).toBe(1_000)
})

test('who comes second goes on from what the other has stored, without asking for it', async () => {
  const { add, sent, other, now } = await started(100)
  void add('ok')
  other()
  await vi.advanceTimersByTimeAsync(50)
  expect(sent).toEqual(['lost race', 'commit of 3'])
  expect(now().learner.totals.ok).toBe(3)
})

test('what was held for half of its time goes with the next call for permits, in one command', async () => {
  const { add, sent, other, now, reports } = await started(900)
  void add('ok')
  await vi.advanceTimersByTimeAsync(44)
  expect(reports.ripeVersion()).toBeUndefined()
  await vi.advanceTimersByTimeAsync(1)
  const asked = reports.ripeVersion()
  expect(asked).toBe('1')
  other()
  reports.refreshed(String(asked), now())
  await vi.advanceTimersByTimeAsync(0)
  expect(sent).toEqual(['commit of 3'])
  // Nothing is left for the timer.
  await vi.advanceTimersByTimeAsync(200)
  expect(sent).toHaveLength(1)
})

test('an answer that was overtaken by a report of this process is left alone', async () => {
  const { add, now, reports, sent } = await started(900)
  void add('ok')
  await vi.advanceTimersByTimeAsync(45)
  const asked = String(reports.ripeVersion())
  const old = now()
  await add('limited')
  reports.refreshed(asked, old)
  await add('limited')
  expect(sent).toEqual(['commit of 3', 'commit of 4'])
})

test('while the pace is being found, successes are told soon at any pace', () => {
  const found: Learner = { ...newLearner(settings), phase: 'hold', rate: 900 }
  expect(holdMs(found, 50, settings)).toBe(90)
  expect(holdMs({ ...found, phase: 'learn' }, 50, settings)).toBe(50)
  expect(holdMs({ ...found, phase: 'learn', rate: settings.maxPerSecond }, 50, settings)).toBe(250)
})

test('a request counts where it left, not where its permit was given', async () => {
  const { reports, now } = await started(100)
  const { grantId } = outcome('ok')
  await vi.advanceTimersByTimeAsync(250)
  const flight = { leftMs: performance.now(), isBound: false, isFull: false }
  await vi.advanceTimersByTimeAsync(400)
  void reports.add({ grantId, kind: 'ok' }, performance.now(), flight)
  await vi.advanceTimersByTimeAsync(50)
  expect(now().learner.history.at(-1)?.atMs).toBe(Math.round(flight.leftMs))
})

test('a refusal tells until when nothing is to be sent, before Redis has answered', async () => {
  const redis = sharedAt(50)
  const pauses: number[] = []
  const reports = createReports(redis.shared, settings, 50, (untilMs) =>
    pauses.push(untilMs - performance.now()),
  )
  void reports.add(outcome('ok'), performance.now())
  await vi.advanceTimersByTimeAsync(50)
  expect(pauses.at(-1)).toBeLessThanOrEqual(0)
  redis.shared.commit = () => new Promise(() => {})
  void reports.add(outcome('limited'), performance.now())
  await vi.advanceTimersByTimeAsync(0)
  expect(pauses.at(-1)).toBeGreaterThan(0)
})
