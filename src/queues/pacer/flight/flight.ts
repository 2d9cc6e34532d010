import { noSightings, type Sightings } from './sightings.ts'
import type { Counts } from './counts.ts'

/** Two numbers of a request: how many were under way beside it, and how many the server had for certain. */
export type Beside = readonly [others: number, surelyOthers: number]

/** A limit on requests under way, as far as it is known. */
export interface Flight extends Counts {
  /** Requests that may be under way at once; 0: no such limit is known. */
  limit: number
  /** The limit has held while it was in use. */
  isSure: boolean
  /** The limit that refusals showed at first, and when. */
  foundAs: number
  foundMs: number
  /** The number of the last test: one request beyond the limit. */
  test: number
  /** Since when its outcome is awaited; 0: none is under way. */
  testedAtMs: number
  /** When the last test began, whatever became of it; before the first one, since when the limit is known. */
  lastTestMs: number
  /** The time for which the latest refusal paused everything. */
  refusalCostMs: number
  /** Since when requests are refused with fewer under way, and none is served with all slots taken; 0: the limit is in use. */
  unusedSinceMs: number
  /** When refusals with fewer under way showed that it had fallen; 0: never. */
  fellMs: number
  passedTests: number
  /** Requests to be served at the limit before the next test: few after one that was served or had no outcome, else `usualTestAfter`. */
  testAfter: number
  usualTestAfter: number
  /** When tests have raised it; 0 once it has held. The next refusal of a last slot lowers it again, unless one more is tested. */
  raisedAtMs: number
  servedAtLimit: number
  /** Requests refused at the limit and below it, of late. */
  refusedAtLimit: number
  refusedBelow: number
  sightings: Sightings
  /** The counts are of a time in which the limit changes: only what was served directly before a refusal. */
  isCompared: boolean
  /** Both numbers of the latest requests served while the limit changes: a refusal is compared with those directly before it. */
  latest: readonly Beside[]
  /** When the last request was sent whose refusal counts as one of its own. */
  lastRefusedMs: number
}

export const unlimited: Flight = {
  limit: 0,
  isSure: false,
  foundAs: 0,
  foundMs: 0,
  test: 0,
  testedAtMs: 0,
  lastTestMs: 0,
  refusalCostMs: 0,
  unusedSinceMs: 0,
  fellMs: 0,
  passedTests: 0,
  testAfter: 0,
  usualTestAfter: 0,
  raisedAtMs: 0,
  servedAtLimit: 0,
  refusedAtLimit: 0,
  refusedBelow: 0,
  givenUp: 0,
  sightings: noSightings,
  served: [],
  surelyServed: [],
  refused: [],
  isCompared: false,
  latest: [],
  lastRefusedMs: 0,
}

export const noCounts = { served: [], surelyServed: [], refused: [], latest: [] }

/** The limit has not fallen after all, or has risen again. */
export const inUse = { ...noCounts, unusedSinceMs: 0 }

/** Nothing that was counted under another limit, or before this one was in use again, counts any more. */
export const settled = {
  ...inUse,
  raisedAtMs: 0,
  testedAtMs: 0,
  passedTests: 0,
  servedAtLimit: 0,
  refusedAtLimit: 0,
  refusedBelow: 0,
}

const noTimes = {
  foundMs: 0,
  testedAtMs: 0,
  lastTestMs: 0,
  unusedSinceMs: 0,
  fellMs: 0,
  raisedAtMs: 0,
  lastRefusedMs: 0,
}

/** The clock was set back: its times are yet to come, and a test of then would never end. */
export function onNewClock(flight: Flight): Flight {
  return { ...flight, ...noTimes }
}
