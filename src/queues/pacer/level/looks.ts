/**
 * Looks above a level. A level that was found in one short search may be that of a moment: a neighbour took most of the limit just
 * then. The rate alone would be refused so seldom that it believed the level for minutes. So the pacer looks: it sends half as much
 * again, until a refusal, or so long that not even a full bucket explains that there is none. Each look that a level survives makes
 * the next one rarer.
 */
import { surenessAfterEdge } from '../edge.ts'
import { mayBeLimited } from '../flight/limit.ts'
import { okPerRefusal, type Learner, type Outcome } from '../learner.ts'
import { cutPerRefusal, withMeasuredRate } from '../rate.ts'
import { noLooks } from './look.ts'
import { isRestless, noteRisen } from './unrest.ts'

/** The first look comes after so many requests, each next one after so many times as many. */
const firstOks = 120
/** The first half minute of a run is spent on finding the level. */
const settlesMs = 25_000
const rarer = 1.5
/** An even spacing and a sliding window refuse every look at once: the first that is refused so after so many others is the last. */
const fewest = 2
/** So many are never survived. */
const enough = 50
/** A look is not taken directly after a refusal: a bucket is empty then. */
const restSeconds = 2
const above = 1.5
/** A bucket holds a second's worth, and the level may be known a little too low. */
const heldMs = 3_000
const servedPart = 0.8
/** A window of the level known refuses a look within this time, a bucket of it only after the second. In between it is a higher level. */
const windowMs = 760
/** An even spacing or a sliding window refuses a look at once, as it would have refused the next request, permitted before, or the one after. */
const atOnceMs = 250
const bucketMs = 1_700
/** Not even a full bucket refuses one so late: it is as good as one that was not refused. */
const lateMs = 2_500
const growthPerSecond = 0.03
/** A level further above is another one, and not the same that was measured while a bucket was full. */
const nearAbove = 1.2
/**
 * A faster rate climbs every few seconds anyway, and the permits of a look above it are so close that the gate holds none of its
 * requests when one is refused (`flight/gate.ts`).
 */
const mostPerSecond = 80
/** A climb that has come further is a look itself: one in its midst would be refused by a limit that the climb still has to reach. */
const climbed = 1.01

/** Counts towards the next look, begins it, and ends it when it was not refused. */
export function lookAfterOk(learner: Learner, ok: Outcome): Learner {
  const { looks, unrest, rate } = learner
  if (isRestless(unrest, ok.atMs)) return looks === noLooks ? learner : { ...learner, looks: noLooks }
  if (unrest.level === 0 || unrest.isLeast) return learner
  if (learner.sliding || learner.windows.length > 0 || learner.suspicion) return learner
  if (looks.from > 0) return goOnLooking(learner, ok)
  const counted = { ...learner, looks: { ...looks, oks: looks.oks + 1 } }
  const wanted = firstOks * rarer ** looks.survived * (learner.okPerRefusal / okPerRefusal)
  if (ok.atMs - unrest.foundAtMs < settlesMs) return counted
  if (rate > mostPerSecond || counted.looks.oks < wanted) return counted
  if (learner.okRun < restSeconds * rate || isClimbing(learner)) return counted
  return { ...learner, rate: rate * above, looks: { ...looks, from: rate, sinceMs: ok.atMs, served: 0 } }
}

export function isLooking({ looks }: Learner): boolean {
  return looks.from > 0
}

function isClimbing({ phase, probeFrom, rate }: Learner): boolean {
  return phase === 'probe' && (probeFrom === null || rate > climbed * probeFrom)
}

/** Its time is that of permits: preparation delays the whole look on its way to the wire. */
function goOnLooking(learner: Learner, { sentAtMs, grantedAtMs = sentAtMs, ...ok }: Outcome): Learner {
  const { looks, rate } = learner
  const tookMs = grantedAtMs - looks.sinceMs
  if (tookMs < 0) return learner
  const served = looks.served + 1
  const isOver = tookMs >= heldMs && served >= (servedPart * rate * heldMs) / 1000
  if (!isOver) return { ...learner, looks: { ...looks, served } }
  return {
    ...learner,
    looks: noLooks,
    unrest: noteRisen(learner.unrest, ok.atMs),
    phase: 'probe',
    probeFrom: rate,
  }
}

/**
 * The request was sent during a look, or had its permit then and was still being prepared: only the first refusal lowers the rate.
 */
export function isOfLook({ looks }: Learner, { sentAtMs, grantedAtMs = sentAtMs }: Outcome): boolean {
  return sentAtMs >= looks.sinceMs && (looks.from > 0 || grantedAtMs <= looks.endedMs)
}

/** The level has survived the look. What was sent too early is waited for: that is the rest of a window, and fills a bucket again. */
export function endLook(learner: Learner, { atMs, sentAtMs, grantedAtMs = sentAtMs }: Outcome): Learner {
  const { looks, rate } = learner
  if (looks.from === 0) return learner
  const earlyMs = (rate / looks.from - 1) * (atMs - looks.sinceMs)
  const tookMs = grantedAtMs - looks.sinceMs
  const isAtOnce = tookMs < atOnceMs
  const isOfLevel = tookMs <= windowMs || (tookMs >= bucketMs && tookMs < lateMs)
  // A level a tenth higher refuses most looks as well: only a refusal of the rate itself since the last look tells that it is not there.
  const isMet = learner.edge !== null && learner.refusalKnownMs < looks.sinceMs
  const isSurer = isAtOnce && isMet && !mayBeLimited(learner.flight)
  const ended: Learner = {
    ...learner,
    // The refusal of a look that the level survives is one of those that are aimed for.
    rate: looks.from * (isOfLevel ? 1 - cutPerRefusal : 1),
    ...(isSurer && { sureness: surenessAfterEdge({ ...learner, rate: looks.from }, sentAtMs) }),
    // The refusals of a look are no part of what measures the rate.
    edge: null,
    correctedMs: atMs,
    refusalKnownMs: atMs,
    notBeforeMs: Math.max(learner.notBeforeMs, atMs + earlyMs),
    looks: {
      ...looks,
      from: 0,
      oks: 0,
      endedMs: atMs,
      survived: isAtOnce && looks.survived >= fewest ? enough : looks.survived + 1,
    },
  }
  if (tookMs >= lateMs)
    return { ...ended, unrest: noteRisen(learner.unrest, atMs), phase: 'probe', probeFrom: looks.from }
  if (!isOfLevel) {
    // The rate before the look has held for a while: a level a little above it is not believed when the climb from there is refused.
    const { level } = learner.unrest
    const isNear = level < nearAbove * looks.from
    const unrest = { ...learner.unrest, level: isNear ? Math.min(level, looks.from) : level }
    return withMeasuredRate({ ...ended, unrest }, looks.from, growthPerSecond)
  }
  return isAtOnce || learner.phase === 'probe' ? { ...ended, phase: 'hold', okRun: 0 } : ended
}
