/**
 * A refusal tells the limit, once its kind is known: the requests served before it were within the limit, and it was beyond.
 * Two refusals tell the kind: for the true one they give the same limit.
 */
import { countBetween, type Checkpoint } from '../history.ts'

/** The limit a second by which each kind explains one refusal, and how far it may be off. 0: that kind does not explain it. */
export interface Evidence {
  perSecond: readonly number[]
  off: readonly number[]
}

export interface Candidate {
  perSecond: number
  off: number
  weight: number
  /** Requests that arrive unevenly are refused so many times as soon. */
  unevenTimes: number
}

export const windowMs = 1000
/** Fixed windows of a second may begin at so many places of it. */
const phases = 50
/** Requests beyond an even spacing that are served. */
const bursts = [0, 1, 2, 3, 4, 5]
/** Seconds' worth that a bucket saves up. */
const saved = [0.5, 1, 2]
const sliding = bursts.length + saved.length
/** A fixed window is met by the requests since it began, a sliding one by those of any second. */
const slidingUneven = 2
/** Each kind is so common. */
const weights = [
  ...bursts.map(() => 1 / bursts.length),
  // Buckets, and a sliding window.
  0.2,
  1,
  0.2,
  0.6,
  ...Array.from({ length: phases }, () => 8 / phases),
]
/** In a shorter time, chance counts. */
const shortestMs = 100
const longestMs = 64_000
/** After a silence of so long, what is sent is counted from the first request on, however soon it is refused. */
const silenceMs = 250
const shortestAfterSilenceMs = 3
/** A count may be off by part of a request, and a time by what the network varies. */
const offBy = 0.4
const offPart = 0.01
/** A window that begins in a silence has counted the same wherever it begins there. */
const exactOffBy = 0.1
/** Requests overtake each other on their way: what was sent so long after the refused one and served was there before it. */
export const overtakenMs = 50
/**
 * All of the evidence together tells one whole number from the next when it is off by less than this. It is taken to be off by a part
 * at least, but for exact counts.
 */
const tellsWhole = 0.5
const leastOffPart = 0.02
const wholeOffBy = 0.1
/** So many limits are whole numbers. */
const wholeShare = 0.7
/** The evidence lies between two of them where they explain it by less: the limit is none then. */
const leastLikely = 0.05

type Told = Pick<Candidate, 'perSecond' | 'off'>
interface Span {
  count: number
  seconds: number
  servedSeconds: number
}

/** Returns the limit for each kind, from what was served before a request that was refused. */
export function evidenceOf(all: readonly Checkpoint[], refusedMs: number): Evidence {
  const untilMs = refusedMs + overtakenMs
  const history = all.filter(({ atMs }) => atMs <= untilMs)
  const total = countBetween(history, -Infinity, untilMs)
  const spans = spansBefore(refusedMs, history, total)
  const saving = [
    ...bursts.map((burst) => between(spans, -burst, 0)),
    ...saved.map((more) => between(spans, 1, more)),
  ]
  const inSecond = countBetween(history, refusedMs - windowMs - 1, untilMs)
  const told = [
    ...saving,
    toldBy(inSecond, offBy + inSecond / 2 / phases),
    ...Array.from({ length: phases }, (_, phase) => inFixedWindow(history, refusedMs, untilMs, phase)),
  ]
  return { perSecond: told.map(({ perSecond }) => perSecond), off: told.map(({ off }) => off) }
}

/** From each point on: what was served, the seconds until the refusal, and those until the last one that was served. */
function spansBefore(refusedMs: number, history: readonly Checkpoint[], total: number): Span[] {
  const servedMs = Math.min(refusedMs, history.at(-1)?.lastMs ?? refusedMs)
  return history.flatMap((point, at): Span[] => {
    const before = history[at - 1]
    const isBeginning = !before || point.atMs - (before.lastMs ?? before.atMs) >= silenceMs
    const lastedMs = refusedMs - point.atMs
    const isLongEnough = lastedMs >= (isBeginning ? shortestAfterSilenceMs : shortestMs)
    if (!isLongEnough || lastedMs >= longestMs) return []
    const count = total - (before?.count ?? 0)
    return [{ count, seconds: lastedMs / 1000, servedSeconds: (servedMs - point.atMs) / 1000 }]
  })
}

/** The last request was refused, so the limit is below the one number; the one before was served, so it is above the other. */
function between(spans: readonly Span[], moreRequests: number, moreSeconds: number): Told {
  const highest = (shares: readonly number[]) => shares.reduce((most, one) => (one > most ? one : most), 0)
  const most = highest(spans.map(({ count, seconds }) => (count + moreRequests) / (seconds + moreSeconds)))
  const served = spans.filter(({ servedSeconds }) => servedSeconds > 0)
  const least = highest(
    served.map(({ count, servedSeconds }) => (count - 1 + moreRequests) / (servedSeconds + moreSeconds)),
  )
  return toldBy((most + least) / 2, Math.abs(most - least) / 2)
}

function inFixedWindow(
  history: readonly Checkpoint[],
  refusedMs: number,
  untilMs: number,
  phase: number,
): Told {
  const sinceMs = (refusedMs - ((phase + 0.5) * windowMs) / phases) % windowMs
  const beganMs = refusedMs - (sinceMs < 0 ? sinceMs + windowMs : sinceMs) - 1
  const limit = countBetween(history, beganMs, untilMs)
  const before = countBetween(history, beganMs - windowMs, beganMs)
  if (before > limit + 1) return { perSecond: 0, off: 0 }
  const placeMs = windowMs / phases
  const isSilent =
    countBetween(history, beganMs - placeMs / 2, Math.min(refusedMs, beganMs + placeMs / 2)) === 0
  return isSilent ? { perSecond: limit, off: exactOffBy } : toldBy(limit, offBy + limit / 2 / phases)
}

/** As far off as the network varies, besides. */
const toldBy = (perSecond: number, off: number): Told => ({
  perSecond,
  off: Math.hypot(off, offPart * perSecond),
})

/** The limit, if it is a bucket that saves up a second's worth: hardly any kind explains a refusal by a lower one. */
export function ofBucket(evidence: Evidence | undefined): number {
  return evidence?.perSecond[bursts.length + saved.indexOf(1)] ?? 0
}

/** Returns the limits that a fixed window of a second explains it by, for each place where it may begin; 0: not there. */
export function windowsOf({ perSecond }: Evidence): readonly number[] {
  return perSecond.slice(-phases)
}

/** Returns the limits that explain all of the evidence, where it is off by so many times as much as usual. */
export function candidates(all: readonly Evidence[], times = 1): Candidate[] {
  return weights.flatMap((weight, kind) => {
    const told = all.map((one): Told => ({
      perSecond: one.perSecond[kind] ?? 0,
      off: times * (one.off[kind] ?? 0),
    }))
    if (told.length === 0 || told.some(({ perSecond }) => perSecond <= 0)) return []
    const { mean, off } = meanOf(told)
    const apart = told.reduce((sum, one) => sum + ((one.perSecond - mean) / one.off) ** 2, 0)
    const unevenTimes = kind === sliding ? slidingUneven : 1
    return wholeNumbers(told, { perSecond: mean, off, weight: weight * Math.exp(-apart / 2), unevenTimes })
  })
}

/** Each counts the more, the surer it is. */
function meanOf(told: readonly Told[]): { mean: number; off: number } {
  const precision = told.reduce((sum, { off }) => sum + 1 / off ** 2, 0)
  const mean = told.reduce((sum, { perSecond, off }) => sum + perSecond / off ** 2, 0) / precision
  return { mean, off: 1 / Math.sqrt(precision) }
}

/** Most limits are a whole number a second. Where the evidence tells one from the next, it is shared out among those that it may be. */
function wholeNumbers(told: readonly Told[], one: Candidate): Candidate[] {
  const { mean, off: meanOff } = meanOf(told)
  const off = Math.max(meanOff, Math.min(leastOffPart * mean, ...told.map((each) => each.off)))
  if (off > tellsWhole) return [one]
  const from = Math.max(1, Math.round(mean - 2 * off))
  const near = Array.from({ length: Math.round(mean + 2 * off) - from + 1 }, (_, index) => ({
    perSecond: from + index,
    off: wholeOffBy,
    weight: Math.exp(-(((from + index - mean) / off) ** 2) / 2),
  }))
  const sum = near.reduce((all, { weight }) => all + weight, 0)
  if (sum <= leastLikely) return [one]
  const whole = near.map((each) => ({
    ...one,
    ...each,
    weight: (wholeShare * one.weight * each.weight) / sum,
  }))
  return [{ ...one, weight: (1 - wholeShare) * one.weight }, ...whole]
}
