/**
 * A limit that has just changed is likely to change again: a neighbour comes and goes, a service breathes. The more it has
 * changed of late, the sooner a quiet stretch is taken for a rise. Between two looks, half of a rise is lost on average, and a
 * look costs a refusal: the best time between looks grows with the root of the time between changes.
 */
export interface Unrest {
  /** Requests a second that were served while the limit was met. 0: not known yet. */
  level: number
  /** When the first level was found. */
  foundAtMs: number
  /** The level known was found then, and the one before it had held for so long. 0: it has not changed yet. */
  levelAtMs: number
  heldMs: number
  /** A refusal has shown another level, and when: the next one that agrees makes it the level. */
  other: number
  otherAtMs: number
  /** Changes of the level of late: each is forgotten in a few minutes. */
  changes: number
  changedAtMs: number
  /** Bursts of refusals since the level last changed. */
  falseAlarms: number
  /** The rate was still rising, or was not refused: the limit may be higher, and finding that is no change. */
  isLeast: boolean
  /** The distance of a level that is met from the one known: the mean of late, as a logarithm. */
  spread: number
  /** Since when that mean has been far; 0: it is not. */
  farSinceMs: number
  /** The times in a row that the level was searched for anew, because unrest had lasted. */
  searches: number
  /** A rise begins after so many seconds without a refusal (`restless.ts`). */
  quietSeconds: number
}

export const calm: Unrest = {
  level: 0,
  foundAtMs: 0,
  levelAtMs: 0,
  heldMs: 0,
  other: 0,
  otherAtMs: 0,
  changes: 0,
  changedAtMs: 0,
  falseAlarms: 0,
  isLeast: false,
  spread: 0.1,
  farSinceMs: 0,
  searches: 0,
  quietSeconds: 1.1,
}

/** Levels this far apart are of two limits, those this near of one. */
const changedBy = Math.log(1.25)
const agreedWithin = Math.log(1.15)
/** Refusals nearer than this may be of one moment. */
const agreedMs = 1_000
/** A rate that falls this far at once is a change of the limit until more is known. */
const fallBy = Math.log(1.6)
const fallWeight = 0.5
/** The level follows small steps by this share of each. */
const drift = 0.2
/** Bursts of refusals and other levels belong to the search when they come so soon after the first level. */
const searchMs = 10_000
const settledMs = 5_000
const mostFalseAlarms = 1
const burstWeight = 0.5
const anotherWeight = 0.5
const forgottenMs = 110_000
/** A single change that is over is forgotten sooner than several, or than bursts that no level explains. */
const singleForgottenMs = 60_000
const mostChanges = 4
const restlessAbove = 0.25
/** Each level that is met counts for so much of the mean. */
const spreadWeight = 0.1
/**
 * So near together are those of one limit: each that is met then is another sign that the change is over. `requests` are a second:
 * a low level is known less well, because one request more or less is a larger share of it.
 */
const steady = { below: 0.04, requests: 0.6, kept: 0.92 }
/** Not before the level has held longer than the one before it: a limit in turns is steady too, until it changes. */
const turn = { longer: 1.3, longestMs: 90_000 }
/** So far apart are those of a limit that goes on changing, though none of them is far from the level: unrest lasts then. */
const unsteady = { above: 0.08, requests: 0.9, atLeast: 1.5 }
/**
 * Rises are refused at another rate each time where answers come late, and unrest feeds itself. So the level is searched for anew
 * when unrest has lasted for so long, without a longer pause between two refusals, and then each time after twice as long, so many
 * times at most: a limit that does go on changing loses a few seconds. A level that has been calm for longer than `overMs` begins
 * again with the shortest time.
 */
const searchAnew = { afterMs: 30_000, mostTimes: 5, pauseMs: 15_000, overMs: 600_000 }

/** Notes between which rates a second the limit was before a refusal, and the rate that the refusal has left. */
export function noteLevel(
  known: Unrest,
  [least, most]: readonly [number, number],
  rate: number,
  atMs: number,
  isRising = false,
): Unrest {
  const before = isRestless(known, atMs) ? known : { ...known, spread: calm.spread, farSinceMs: 0 }
  const isFall = before.level > 0 && rate < before.level && apart(rate, before.level) >= fallBy
  const fallen =
    isFall && !isRestless(before, atMs) ? { ...before, changes: fallWeight, changedAtMs: atMs } : before
  const nearest = (one: number) => Math.min(most, Math.max(least, one))
  const shown = nearest(before.level)
  if (before.level > 0 && apart(shown, before.level) < changedBy) {
    const level = before.level + drift * (shown - before.level)
    const after = withSpread(fallen, apart(shown, before.level), atMs)
    return after.level === 0 ? after : { ...after, level, other: 0, isLeast: false }
  }
  const other = nearest(before.other)
  if (apart(other, before.other) >= agreedWithin) {
    const isAnother = before.other > 0 && atMs - before.otherAtMs >= agreedMs && !isRising
    return { ...(isAnother ? unsettled(fallen, atMs) : fallen), other, otherAtMs: atMs }
  }
  if (atMs - before.otherAtMs < agreedMs) return fallen
  const found = { ...fallen, level: other, other: 0, otherAtMs: 0 }
  if (before.level === 0) return { ...found, foundAtMs: atMs, levelAtMs: atMs, isLeast: isRising }
  const isOfSearch = before.changes === 0 && atMs - before.foundAtMs < searchMs
  if (isOfSearch || (before.isLeast && other > before.level)) return { ...found, isLeast: false }
  const changes = fallen.changes < 1 ? 1 : Math.min(mostChanges, changesAt(fallen, atMs) + 1)
  // A limit that changes is met in between as well.
  const heldMs = atMs - before.levelAtMs < searchMs ? before.heldMs : atMs - before.levelAtMs
  return { ...found, changes, changedAtMs: atMs, levelAtMs: atMs, heldMs, falseAlarms: 0, isLeast: false }
}

function withSpread(before: Unrest, by: number, atMs: number): Unrest {
  if (!isRestless(before, atMs)) {
    const isOver = atMs - before.foundAtMs > searchAnew.overMs
    return { ...before, searches: isOver ? 0 : before.searches }
  }
  const spread = before.spread + spreadWeight * (by - before.spread)
  const isNear = spread < Math.max(steady.below, steady.requests / before.level)
  const isFar = spread > Math.max(unsteady.above, unsteady.requests / before.level)
  if (isNear && !isInTurn(before, atMs))
    return { ...before, spread, farSinceMs: 0, changes: before.changes * steady.kept }
  if (!isFar) return { ...before, spread, farSinceMs: 0 }
  const isBroken = before.farSinceMs === 0 || atMs - before.changedAtMs > searchAnew.pauseMs
  const farSinceMs = isBroken ? atMs : before.farSinceMs
  if (atMs - farSinceMs > searchAnew.afterMs * 2 ** before.searches)
    return { ...calm, searches: Math.min(searchAnew.mostTimes, before.searches + 1) }
  return {
    ...before,
    spread,
    farSinceMs,
    changes: Math.max(unsteady.atLeast, changesAt(before, atMs)),
    changedAtMs: atMs,
  }
}

/** The level before has held so long, and this one not yet: it is likely to change again. */
function isInTurn({ levelAtMs, heldMs }: Unrest, atMs: number): boolean {
  return heldMs <= turn.longestMs && atMs - levelAtMs < turn.longer * heldMs
}

/** A level was met that is neither the one known nor the one met before: somebody else takes another part all the time. */
function unsettled(before: Unrest, atMs: number): Unrest {
  if (before.level === 0 || atMs - before.foundAtMs < searchMs) return before
  const changes = Math.min(mostChanges, changesAt(before, atMs) + anotherWeight)
  return { ...before, changes, changedAtMs: atMs }
}

/** Notes that many refusals came at once, and the rate that they have left: it may be a neighbour. */
export function noteBurst(before: Unrest, rate: number, atMs: number): Unrest {
  const isSearching = before.level === 0 || atMs - before.foundAtMs < searchMs
  // A burst soon after unrest is what the last look has left, unless the limit has fallen.
  const isLeft = changesAt(before, atMs) > restlessAbove / 2 && apart(rate, before.level) < changedBy
  if (isSearching || isLeft) return before
  const falseAlarms = before.falseAlarms + 1
  if (falseAlarms > mostFalseAlarms) return before
  return { ...before, changes: burstWeight, changedAtMs: atMs, falseAlarms }
}

/** A look above the level was served. */
export function noteRisen(before: Unrest, atMs: number): Unrest {
  return { ...before, changes: 1, changedAtMs: atMs, other: 0, otherAtMs: 0 }
}

/** A rate has held and was not refused: it is the least that the level can be. */
export function noteHeld(before: Unrest, rate: number, atMs: number): Unrest {
  return before.level > 0
    ? before
    : { ...before, level: rate, foundAtMs: atMs, levelAtMs: atMs, isLeast: true }
}

/** The first level is not known, or has just been found. */
export function isSearched({ level, foundAtMs, changes }: Unrest, atMs: number): boolean {
  return level === 0 || (changes === 0 && atMs - foundAtMs < settledMs)
}

export function isRestless(unrest: Unrest, atMs: number): boolean {
  return changesAt(unrest, atMs) > restlessAbove
}

function changesAt({ changes, changedAtMs }: Unrest, atMs: number): number {
  const passedMs = Math.max(0, atMs - changedAtMs)
  return changes * Math.exp(-passedMs / (changes === 1 ? singleForgottenMs : forgottenMs))
}

function apart(a: number, b: number): number {
  return a <= 0 || b <= 0 ? Infinity : Math.abs(Math.log(a / b))
}
