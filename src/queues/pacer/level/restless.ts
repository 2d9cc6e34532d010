/** The climb and the cut while the limit keeps changing (`unrest.ts`). */
import { clampRate, type Learner, type LearnerSettings } from '../learner.ts'
import { calm, type Unrest } from './unrest.ts'

/**
 * A window of a second refuses within it what is above it: a second without a refusal shows that the limit is higher. Where rises
 * find much, the limit changes faster than that, and the next one begins sooner. One that finds little takes more back.
 */
const quiet = { least: 0.5, most: calm.quietSeconds, sooner: 0.7, later: 1.2 }
/** A window of a second refuses a rise from its own level at 1.7 times that: more is another limit. */
const muchRisen = 1.75
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
  const isQuiet = phase === 'probe' || okRun > Math.max(fewestOks, learner.unrest.quietSeconds * rate)
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

/** Notes how far the rate had risen when it was refused. */
export function noteRise(unrest: Unrest, { rate, phase, probeFrom }: Learner): Unrest {
  if (phase !== 'probe' || probeFrom === null) return unrest
  const changed = unrest.quietSeconds * (rate > muchRisen * probeFrom ? quiet.sooner : quiet.later)
  return { ...unrest, quietSeconds: Math.min(quiet.most, Math.max(quiet.least, changed)) }
}
