const fewest = 8
const leastMs = 3_600_000
const beyond = 1.5

/**
 * Returns since when a monitor has been silent beyond its own habit; undefined while it is not. Its habit is the longest pause between two
 * detections so far, nights and weekends among them. A monitor with few detections has none. Pure.
 */
export function silentSince(detections: readonly Date[], readAt: Date): Date | undefined {
  const times = detections.map((at) => at.getTime()).toSorted((a, b) => a - b)
  const last = times.at(-1)
  if (last === undefined || times.length < fewest) return undefined
  const longest = Math.max(...times.slice(1).map((at, place) => at - times[place]!))
  return readAt.getTime() - last > Math.max(leastMs, longest * beyond) ? new Date(last) : undefined
}
