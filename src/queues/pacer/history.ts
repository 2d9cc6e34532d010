/**
 * How many requests succeeded in any past stretch, in a few dozen numbers: fine for the last seconds, coarser with age, so that
 * one list answers for a second and for an hour.
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

/** Successes sent in (fromMs, toMs], read between the lines where the record is coarse. */
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

/** A gap may be a twentieth of its age: some 80 points for two days. */
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
