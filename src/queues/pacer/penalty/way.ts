/**
 * Requests arrive unevenly: they leave in even intervals, but their way to the server varies, as does the time until a process gets to
 * them, and it is longer for one process than for another. A refused trial is answered at once, so what trials take varies by all of
 * that, and by little else.
 */
export interface Way {
  /** The last trial took so long, and that varies by so much from one to the next: the root of the mean square. */
  tookMs: number
  variesMs: number
  trials: number
}

export const unknownWay: Way = { tookMs: 0, variesMs: 0, trials: 0 }
/** Older ones count less. */
const remembered = 16
/** A trial that was slower or faster than the one before by more, as one on a new connection is, tells no more than this. */
const mostMs = 20

export function afterTrial(way: Way, { sentAtMs, atMs }: { sentAtMs: number; atMs: number }): Way {
  const tookMs = Math.max(0, atMs - sentAtMs)
  if (way.trials === 0) return { tookMs, variesMs: 0, trials: 1 }
  const part = 1 / Math.min(remembered, way.trials)
  const square = Math.min(mostMs, Math.abs(tookMs - way.tookMs)) ** 2
  const variesMs = Math.sqrt(way.variesMs ** 2 + part * (square - way.variesMs ** 2))
  return { tookMs, variesMs, trials: way.trials + 1 }
}
