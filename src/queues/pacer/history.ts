/**
 * The number of successful requests in any past interval, in a few dozen points: fine for the last seconds and coarser
 * with age, so that one list covers a second and an hour.
 */
export interface Checkpoint {
  /** The first of some requests; the next point begins after the last of them. */
  atMs: number
  /** Successes up to and including the last of them. */
  count: number
}

const retentionMs = 2 * 86_400_000
const resolutionMs = 50

/** Answers come in any order: each counts where its request was sent. */
export function addSuccess(history: readonly Checkpoint[], atMs: number): Checkpoint[] {
  const sentAtMs = Math.round(atMs)
  const last = history.at(-1)
  if (last && sentAtMs < last.atMs + resolutionMs) return withOneMore(history, sentAtMs)
  const grown = [...history, { atMs: sentAtMs, count: (last?.count ?? 0) + 1 }]
  return grown.length > 120 ? thin(grown, sentAtMs) : grown
}

function withOneMore(history: readonly Checkpoint[], sentAtMs: number): Checkpoint[] {
  const next = [...history]
  for (let i = next.length - 1; i >= 0; i--) {
    const point = next[i] as Checkpoint
    next[i] = { ...point, count: point.count + 1 }
    if (point.atMs <= sentAtMs) break
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
  const part = (atMs - point.atMs) / (after.atMs - point.atMs)
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
    if (needless) kept[kept.length - 1] = { ...previous, count: point.count }
    else if (!tooOld) kept.push(point)
  }
  return kept
}
