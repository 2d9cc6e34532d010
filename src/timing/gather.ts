/**
 * Does for many at once what was asked for one by one within `waitMs`: whoever asks waits a moment longer, and the ledger is
 * asked once. An error is everybody's whose keys were in the batch. Keys that were asked for twice are worked on once.
 */
export function coalesceByKey<K>(
  work: (keys: K[]) => Promise<void>,
  waitMs: number,
): (keys: readonly K[]) => Promise<void> {
  let next: { keys: Set<K>; done: Promise<void> } | undefined

  return (keys) => {
    next ??= begin()
    for (const key of keys) next.keys.add(key)
    return next.done
  }

  function begin() {
    const keys = new Set<K>()
    const done = new Promise<void>((resolve) => setTimeout(resolve, waitMs)).then(() => {
      next = undefined
      return work([...keys])
    })
    return { keys, done }
  }
}
