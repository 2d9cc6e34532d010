/**
 * The number of requests that were under way when one was sent, over all processes. It is counted from the answers, a little later:
 * every answer tells when its request was sent, so nothing has to be shared while requests are under way.
 */
export interface Sightings {
  /** Times in `entries` count from here. */
  baseMs: number
  /** Everything that was answered is known from here on. */
  sinceMs: number
  /** The longest answer of late. */
  longestMs: number
  /** The time that a refusal takes: the way to the server and back. */
  wayMs: number
  entries: Sighting[]
}

type Sighting = [sentMs: number, endMs: number, kind: typeof served | typeof refused, isJudged: 0 | 1]

export interface Judged {
  sentMs: number
  isServed: boolean
  /** Requests under way beside this one, as the sender counts; beside a refused one, the most there may have been. */
  others: number
  /** Those of them that the server had for certain when this one came: of the others, answers were on their way back. */
  surelyOthers: number
}

const served = 0
const refused = 1
/** Answers of other processes are known this much later than they came. */
const reportMs = 100
/** A longer answer does not hold up the others. */
const longestMs = 2_000
const forgetPart = 0.995
/** A limit of twenty or thirty needs no more. Where more are under way, there is none, and nothing is kept for a while. */
const mostEntries = 240
const restMs = 5_000
const mostOffsetMs = 1_000_000
/** An answer that comes later than this after a request was sent had not left when it arrived. */
const certainPart = 1.5
const certainMs = 1
/** Requests that left together may arrive in any order: some may have to wait for a connection. */
const togetherMs = 1

export const noSightings: Sightings = { baseMs: 0, sinceMs: 0, longestMs: 0, wayMs: 0, entries: [] }

/** Notes an answer. Returns the requests for which the number under way is known by now. */
export function sight(
  before: Sightings,
  answer: { sentMs: number; atMs: number; isServed: boolean },
): { sightings: Sightings; judged: Judged[] } {
  if (answer.atMs < before.sinceMs - longestMs || before.baseMs === 0) {
    return { sightings: { ...noSightings, baseMs: answer.atMs, sinceMs: answer.atMs }, judged: [] }
  }
  if (answer.atMs < before.sinceMs) return { sightings: before, judged: [] }
  const tookMs = Math.min(longestMs, answer.atMs - answer.sentMs)
  // A refusal that took long met a process that stood still: what was under way beside it is answered just as late.
  const longest = Math.max(tookMs, before.longestMs * (answer.isServed ? forgetPart : 1))
  const from = answer.atMs - before.baseMs > mostOffsetMs ? rebased(before, answer.atMs) : before
  const entry: Sighting = [
    tenths(answer.sentMs - from.baseMs),
    tenths(answer.atMs - from.baseMs),
    answer.isServed ? served : refused,
    0,
  ]
  const entries = [...from.entries, entry]
  if (entries.length > mostEntries) {
    return { sightings: { ...from, sinceMs: answer.atMs + restMs, entries: [] }, judged: [] }
  }
  const wayMs = answer.isServed ? before.wayMs : typicalWay(before.wayMs, tookMs)
  return judgeDue({ ...from, longestMs: longest, wayMs, entries }, answer.atMs)
}

function judgeDue(from: Sightings, nowMs: number): { sightings: Sightings; judged: Judged[] } {
  const now = nowMs - from.baseMs
  const dueMs = now - from.longestMs - reportMs
  const completeMs = from.sinceMs - from.baseMs
  const judged: Judged[] = []
  let openMs = now
  const entries = from.entries.map((entry): Sighting => {
    const [sentMs, endMs, kind, isJudged] = entry
    if (isJudged) return entry
    if (sentMs > dueMs) {
      openMs = Math.min(openMs, sentMs)
      return entry
    }
    if (sentMs >= completeMs) {
      const beside = from.entries.filter((other) => isUnderWay(other, entry))
      const others = beside.length
      const surelyOthers = beside.filter(
        (other) => other[1] > sentMs + certainPart * from.wayMs + certainMs,
      ).length
      judged.push({ sentMs: from.baseMs + sentMs, isServed: kind === served, others, surelyOthers })
    }
    return [sentMs, endMs, kind, 1]
  })
  const kept = entries.filter(([, endMs, , isJudged]) => !isJudged || endMs > openMs)
  // A refusal is answered sooner than what was sent before it.
  judged.sort((a, b) => a.sentMs - b.sentMs)
  return { sightings: { ...from, entries: kept }, judged }
}

function isUnderWay(other: Sighting, entry: Sighting): boolean {
  const [sentMs, , kind] = entry
  const byMs = kind === refused ? sentMs + togetherMs : sentMs
  return other !== entry && other[2] === served && other[0] <= byMs && other[1] > sentMs
}

/** The ninth decile, followed by steps. */
function typicalWay(before: number, tookMs: number): number {
  return before === 0 ? tookMs : before * (tookMs > before ? 1.5 : 0.95)
}

function rebased(from: Sightings, baseMs: number): Sightings {
  const moveMs = baseMs - from.baseMs
  const entries = from.entries.map(([sentMs, endMs, kind, isJudged]): Sighting => [
    tenths(sentMs - moveMs),
    tenths(endMs - moveMs),
    kind,
    isJudged,
  ])
  return { ...from, baseMs, entries }
}

function tenths(ms: number): number {
  return Math.round(10 * ms) / 10
}
