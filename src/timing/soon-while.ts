/**
 * Returns the pause to the next round of a job that has more to do, and undefined where it has not. The pause leaves most of the time
 * to others. `mostMs`: the pause of the job when there is nothing to do. A round that waits for a slow disk takes no time from
 * others, and must not make the job rarer than that.
 */
export async function soonWhile(
  isMore: () => Promise<boolean>,
  mostMs = Infinity,
): Promise<number | undefined> {
  const startMs = performance.now()
  return (await isMore()) ? Math.min(mostMs, 3 * (performance.now() - startMs)) : undefined
}
