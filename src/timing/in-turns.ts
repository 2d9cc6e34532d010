/** Others in the process wait for no more than this, and the time of the last item. */
const longestMs = 1

/**
 * Maps a long list, and lets the event loop have a turn whenever that has taken some milliseconds: somebody who presses a button in the CRM
 * waits for each of them a dozen times.
 */
export async function inTurns<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  let sinceMs = performance.now()
  for (const item of items) {
    results.push(map(item))
    if (performance.now() - sinceMs < longestMs) continue
    await new Promise((resolve) => setImmediate(resolve))
    sinceMs = performance.now()
  }
  return results
}
