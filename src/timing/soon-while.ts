interface Pauses {
  /** Default: 0. */
  leastMs?: number
  /** The pause of the job when there is nothing to do. Default: none. */
  mostMs?: number
  /** The pause in times of what the round took. Default: 3. */
  times?: number
}

/**
 * Returns the pause to the next round of a job that has more to do, and undefined where it has not. The pause leaves most of the time
 * to others. A round that waits for a slow disk takes no time from others, and must not make the job rarer than with nothing to do.
 */
export async function soonWhile(
  isMore: () => Promise<boolean>,
  { leastMs = 0, mostMs = Infinity, times = 3 }: Pauses = {},
): Promise<number | undefined> {
  const startMs = performance.now()
  if (!(await isMore())) return undefined
  return Math.min(mostMs, Math.max(leastMs, times * (performance.now() - startMs)))
}
