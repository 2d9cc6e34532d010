/**
 * The number of successful requests in any past interval, in some dozen points: fine for the last seconds and coarser
 * with age, so that one list covers a second and an hour.
 */
export interface Checkpoint {
  /** The first of some requests; the next point begins after the last of them. */
  atMs: number
  /** Successes up to and including the last of them. */
  count: number
  /** The last of them, where there are several. */
  lastMs?: number
}

const retentionMs = 2 * 86_400_000
const resolutionMs = 50
const exactMs = 10
const mostPoints = 120
/** A ramp and the pulses after it, whose silences are not to be joined with them. */
const mostFine = 240

/**
 * Answers come in any order: each counts where its request was sent. Fine points know the last of their requests, so that none is
 * counted into a silence: what was served before a refusal is then exact to the request.
 */
export function addSuccess(
  history: readonly Checkpoint[],
  atMs: number,
  { isFine = false } = {},
): Checkpoint[] {
  const sentAtMs = Math.round(atMs)
  const last = history.at(-1)
  if (last && sentAtMs < last.atMs + (isFine ? exactMs : resolutionMs))
    return withOneMore(history, sentAtMs, isFine)
  const grown = [...history, newPoint(sentAtMs, last, isFine)]
  return grown.length > (isFine ? mostFine : mostPoints) ? thin(grown, sentAtMs) : grown
}

function newPoint(atMs: number, before: Checkpoint | undefined, isFine: boolean): Checkpoint {
  return { atMs, count: (before?.count ?? 0) + 1, ...(isFine ? { lastMs: atMs } : {}) }
}

function withOneMore(history: readonly Checkpoint[], sentAtMs: number, isFine: boolean): Checkpoint[] {
  const next = [...history]
  for (let i = next.length - 1; i >= 0; i--) {
    const point = next[i] as Checkpoint
    const { lastMs } = point
    if (isFine && lastMs !== undefined && sentAtMs >= lastMs + exactMs) {
      next.splice(i + 1, 0, newPoint(sentAtMs, point, isFine))
      break
    }
    next[i] = { ...point, count: point.count + 1 }
    if (point.atMs <= sentAtMs || i === 0) {
      if (lastMs !== undefined)
        next[i] = { ...point, count: point.count + 1, lastMs: Math.max(lastMs, sentAtMs) }
      break
    }
  }
  return next
}

/** Returns the successes sent in (fromMs, toMs], interpolated where the history is coarse. */
export function countBetween(history: readonly Checkpoint[], fromMs: number, toMs: number): number {
  return countUpTo(history, toMs) - countUpTo(history, fromMs)
}

function countUpTo(history: readonly Checkpoint[], atMs: number): number {
  const next = history.findIndex((point) => point.atMs > atMs)
  if (next === 0) return 0
  const at = next < 0 ? history.length - 1 : next - 1
  const point = history[at]
  const after = history[at + 1]
  if (!point || !after) return point?.count ?? 0
  const before = history[at - 1]?.count ?? 0
  const lastMs = point.lastMs ?? after.atMs
  const part = lastMs > point.atMs ? Math.min(1, (atMs - point.atMs) / (lastMs - point.atMs)) : 1
  return before + 1 + Math.round(part * (point.count - before - 1))
}

/** A gap may be a twentieth of its age, which gives about 80 points for two days. */
function thin(history: readonly Checkpoint[], nowMs: number): Checkpoint[] {
  const kept: Checkpoint[] = []
  for (const [i, point] of history.entries()) {
    const next = history[i + 1]
    const previous = kept.at(-1)
    const tooOld = nowMs - point.atMs > retentionMs
    const needless = next && previous && next.atMs - previous.atMs < (nowMs - point.atMs) / 20
    if (needless) kept[kept.length - 1] = joined(previous, point)
    else if (!tooOld) kept.push(point)
  }
  return kept
}

function joined({ atMs }: Checkpoint, { count, lastMs }: Checkpoint): Checkpoint {
  return lastMs === undefined ? { atMs, count } : { atMs, count, lastMs }
}
