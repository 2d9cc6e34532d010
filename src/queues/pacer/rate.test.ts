import { expect, test } from 'vitest'
import { defaultLearnerSettings, newLearner, type Learner, type Outcome } from './learner.ts'
import { climb } from './rate.ts'

const startMs = 1_800_000_000_000

/** Milliseconds from the moment at which a climb has doubled its rate to the one at which it goes on. */
function restMs(known: Partial<Learner>): number {
  let learner: Learner = {
    ...newLearner(defaultLearnerSettings),
    phase: 'probe',
    okRun: 100_000,
    rate: 100,
    probeFrom: 50,
    ...known,
  }
  for (let atMs = 0; atMs < 600_000; atMs += 100) {
    const ok = { kind: 'ok', atMs: startMs + atMs, sentAtMs: startMs + atMs } as Outcome
    learner = climb(learner, ok, defaultLearnerSettings)
    if (learner.probeFrom !== 50) return atMs
  }
  return Infinity
}

test('a climb rests at twice its rate for ten seconds, and for a minute where a longer window is known', () => {
  expect(restMs({})).toBe(10_100)
  expect(restMs({ sliding: { lengthMs: 20_000, untilMs: Infinity } as Learner['sliding'] })).toBe(60_100)
  expect(restMs({ sliding: { lengthMs: 90_000, untilMs: Infinity } as Learner['sliding'] })).toBe(90_100)
})
