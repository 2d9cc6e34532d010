/** Upper bounds of the counts by duration, in seconds; what takes longer is counted after the last. Only ever appended to. */
export const durationBounds = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 30, 60] as const

/** Returns counts with one duration in them. */
export function countsOf(ms: number): number[] {
  const counts = noCounts()
  addTo(counts, ms)
  return counts
}

export function noCounts(): number[] {
  return Array.from({ length: durationBounds.length + 1 }, () => 0)
}

export function addTo(counts: number[], ms: number): void {
  const place = durationBounds.findIndex((bound) => ms <= bound * 1_000)
  const index = place === -1 ? durationBounds.length : place
  counts[index] = (counts[index] ?? 0) + 1
}

/**
 * Estimates the duration in milliseconds that a share of the counted ones did not exceed, as Prometheus does: evenly within
 * its bounds. Nothing but the last bound is known of those beyond it. Undefined when nothing was counted.
 */
export function quantileMs(counts: readonly number[], share: number): number | undefined {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  let before = 0
  for (const [index, count] of counts.entries()) {
    if (before + count >= share * total && count > 0) {
      const [low, high] = [durationBounds[index - 1] ?? 0, durationBounds[index]]
      if (high === undefined) return low * 1_000
      return (low + (high - low) * ((share * total - before) / count)) * 1_000
    }
    before += count
  }
  return undefined
}
