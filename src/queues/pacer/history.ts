/**
 * The number of successful requests in any past interval, in a few dozen points: fine for the last seconds and coarser
 * with age, so that one list covers a second and an hour.
 */
export interface Checkpoint {
  atMs: number
  /** Successes up to and including this time. */
  count: number
}

const retentionMs = 2 * 86_400_000
const resolutionMs = 50

export function addSuccess(history: readonly Checkpoint[], atMs: number): Checkpoint[] {
  const sentAtMs = Math.round(atMs)
  const last = history.at(-1)
  if (!last) return [{ atMs: sentAtMs, count: 1 }]
  if (sentAtMs < last.atMs + resolutionMs)
    return [...history.slice(0, -1), { ...last, count: last.count + 1 }]
  const grown = [...history, { atMs: sentAtMs, count: last.count + 1 }]
  return grown.length > 120 ? thin(grown, sentAtMs) : grown
}

/** Returns the successes sent in (fromMs, toMs], interpolated where the history is coarse. */
export function countBetween(history: readonly Checkpoint[], fromMs: number, toMs: number): number {
  return countUpTo(history, toMs) - countUpTo(history, fromMs)
}

function countUpTo(history: readonly Checkpoint[], atMs: number): number {
  let before: Checkpoint | undefined
  for (const point of history) {
    if (point.atMs > atMs) {
      if (!before) return 0
      const part = (atMs - before.atMs) / (point.atMs - before.atMs)
      return before.count + Math.floor(part * (point.count - before.count - 1))
    }
    before = point
  }
  return before?.count ?? 0
}

/** A gap may be a twentieth of its age, which gives about 80 points for two days. */
function thin(history: readonly Checkpoint[], nowMs: number): Checkpoint[] {
  const kept: Checkpoint[] = []
  for (const [i, point] of history.entries()) {
    const next = history[i + 1]
    const previous = kept.at(-1)
    const tooOld = nowMs - point.atMs > retentionMs
    const needless = next && previous && next.atMs - previous.atMs < (nowMs - point.atMs) / 20
    if (!tooOld && !needless) kept.push(point)
  }
  return kept
}
