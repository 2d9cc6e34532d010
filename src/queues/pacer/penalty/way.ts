/**
 * How evenly requests arrive. They leave in even intervals, and their way to the server varies, as does the time until this process gets
 * to them. A refused trial is answered at once, so the times that trials take vary by both, and by little else.
 */
export interface Way {
  /** How long the last trial took, and by how much that varies from one to the next: the root of the mean square. */
  tookMs: number
  variesMs: number
  trials: number
}

export const unknownWay: Way = { tookMs: 0, variesMs: 0, trials: 0 }
/** Older ones count less. */
const remembered = 16

export function afterTrial(way: Way, { sentAtMs, atMs }: { sentAtMs: number; atMs: number }): Way {
  const tookMs = Math.max(0, atMs - sentAtMs)
  if (way.trials === 0) return { tookMs, variesMs: 0, trials: 1 }
  const part = 1 / Math.min(remembered, way.trials)
  const square = way.variesMs ** 2 + part * ((tookMs - way.tookMs) ** 2 - way.variesMs ** 2)
  return { tookMs, variesMs: Math.sqrt(square), trials: way.trials + 1 }
}
