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
