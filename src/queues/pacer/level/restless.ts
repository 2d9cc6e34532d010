/** The climb and the cut while the limit keeps changing (`unrest.ts`). */
import { clampRate, type Learner, type LearnerSettings } from '../learner.ts'

/** A window of a second refuses within it what is above it: a second without a refusal shows that the limit is higher. */
const quietSeconds = 1.1
const fewestOks = 8
/** A limit that is met again and again: the rate rises by this share between two refusals, and falls with each by that. */
const riseBetween = { share: 0.02, seconds: 1.6, fewestOks: 12 }
const cutPerRefusal = 0.03
/** The rate a second ago was half as high at least. What was served since is about the mean of the two. */
const mostRisen = 2
const keptOfRise = 0.5

/** After a quiet second the rate doubles every second until it is refused. */
export function climbRestlessly(learner: Learner, settings: LearnerSettings): Learner {
  const { rate, okPerRefusal, phase } = learner
  const okRun = learner.okRun + 1
  const between = Math.min(okPerRefusal, Math.max(riseBetween.fewestOks, riseBetween.seconds * rate))
  const isQuiet = phase === 'probe' || okRun > Math.max(fewestOks, quietSeconds * rate)
  const step = isQuiet ? Math.LN2 / Math.max(1, rate) : riseBetween.share / between
  return {
    ...learner,
    okRun,
    phase: isQuiet ? 'probe' : 'hold',
    rate: clampRate(rate * (1 + step), settings),
    probeFrom: (phase === 'probe' ? learner.probeFrom : null) ?? rate,
    probeHeldSinceMs: null,
  }
}

/** The last second's part of a rise is kept, as far as it was served. */
export function rateAfterRestlessRefusal({ rate, phase, probeFrom }: Learner): number {
  const risen = Math.min(mostRisen, Math.max(1, rate / (probeFrom ?? rate / mostRisen)))
  return (phase === 'probe' ? rate * risen ** (keptOfRise - 1) : rate) * (1 - cutPerRefusal)
}
