import { expect, test } from 'vitest'
import { defaultLearnerSettings as settings, newLearner, type Outcome } from './learner.ts'
import { learn, paceOf } from './state.ts'

const start = 1_800_000_000_000
const minutes = 60_000

const outcome = (change: Partial<Outcome>): Outcome =>
  ({ kind: 'ok', atMs: start, sentAtMs: start, epoch: 0, busy: true, places: [], ...change }) as Outcome

test.each([
  ['two minutes', 2 * minutes, 2 * minutes],
  ['an hour', 60 * minutes, 10 * minutes],
  ['a year', 525_600 * minutes, 10 * minutes],
])(
  'a server that asks for %s is asked again, and again after the next refusal',
  (_, retryAfterMs, expected) => {
    let learner = newLearner(settings)
    let atMs = start
    for (let trial = 0; trial < 3; trial++) {
      const { epoch } = paceOf(learner, atMs)
      learner = learn(
        learner,
        outcome({ kind: 'limited', atMs, sentAtMs: atMs, epoch, retryAfterMs }),
        settings,
      )
      const { notBeforeMs } = paceOf(learner, atMs)
      expect(notBeforeMs - atMs).toBe(expected)
      atMs = notBeforeMs
    }
  },
)

test('a window that is used up until tomorrow is tried again before', () => {
  const rateLimit = { remaining: 0, resetMs: 20 * 60 * minutes }
  const learner = learn(newLearner(settings), outcome({ rateLimit }), settings)
  expect(paceOf(learner, start).notBeforeMs - start).toBe(10 * minutes)
})

test.each([
  ['an hour', 60 * minutes],
  ['a day', 1440 * minutes],
])(
  'a run that is stopped while everything is refused has learned nothing of the limit %s later',
  (_, laterMs) => {
    let learner = newLearner(settings)
    for (let i = 0; i < 200; i++)
      learner = learn(learner, outcome({ atMs: start + 25 * i, sentAtMs: start + 25 * i }), settings)
    const refusedAtMs = start + 5_000
    learner = learn(learner, outcome({ kind: 'limited', atMs: refusedAtMs, sentAtMs: refusedAtMs }), settings)
    expect(learner.phase).toBe('blocked')
    const { rate, epoch } = learner
    const atMs = refusedAtMs + laterMs
    const resumed = learn(learner, outcome({ atMs, sentAtMs: atMs, epoch }), settings)
    expect(resumed).toMatchObject({ block: null, windows: [], penalty: null })
    expect(paceOf(resumed, atMs).intervalMs).toBeCloseTo(1000 / (0.9 * rate))
  },
)

test('a window that is found is not smaller than what half of an earlier stretch of its length was served', () => {
  let learner = newLearner(settings)
  const served = (fromMs: number, count: number) => {
    for (let i = 0; i < count; i++)
      learner = learn(
        learner,
        outcome({
          atMs: start + fromMs + 200 * i,
          sentAtMs: start + fromMs + 200 * i,
          epoch: learner.epoch,
          busy: false,
        }),
        settings,
      )
  }
  served(0, 300)
  const refused = (afterMs: number, retryAfterMs?: number) =>
    outcome({
      kind: 'limited',
      atMs: start + afterMs,
      sentAtMs: start + afterMs,
      epoch: learner.epoch,
      retryAfterMs,
    })
  learner = learn(learner, refused(60_000, 55_000), settings)
  served(115_000, 1)
  expect(learner.windows).toMatchObject([{ lengthMs: 60_000, confirmed: false }])
  expect(learner.windows[0]!.limit).toBeGreaterThanOrEqual(145)
  expect(learner.windows[0]!.limit).toBeLessThanOrEqual(150)
})
