export interface JustNow<Key, Value> {
  remember(key: Key, value: Value): void
  /** Returns the values of all these keys, each once; undefined where one of them is not remembered, or is too old. */
  takeAll(keys: readonly Key[]): Map<Key, Value> | undefined
}

/**
 * Hands values on from one step to the next within this process, so that it need not be read back what was just stored. A value
 * is given once, and to nobody after `mostMs`: what has changed elsewhere in the meantime is read where it is stored.
 */
export function createJustNow<Key, Value>({
  mostMs,
  most,
  nowMs = () => performance.now(),
}: {
  mostMs: number
  /** The most values that are kept. */
  most: number
  nowMs?: () => number
}): JustNow<Key, Value> {
  // A map keeps the order in which its keys came, so the oldest are in front.
  const values = new Map<Key, { value: Value; untilMs: number }>()
  let timer: NodeJS.Timeout | undefined

  /** Nothing stays in memory because nobody has come for it. */
  function sweep(): void {
    timer = undefined
    const now = nowMs()
    for (const [key, { untilMs }] of values) {
      if (untilMs > now) break
      values.delete(key)
    }
    if (values.size > 0) timer = setTimeout(sweep, mostMs).unref()
  }

  return {
    remember(key, value) {
      values.delete(key)
      if (values.size >= most) values.delete(values.keys().next().value as Key)
      values.set(key, { value, untilMs: nowMs() + mostMs })
      timer ??= setTimeout(sweep, mostMs).unref()
    },

    takeAll(keys) {
      const taken = new Map<Key, Value>()
      const now = nowMs()
      for (const key of keys) {
        const found = values.get(key)
        if (!found || found.untilMs <= now) return undefined
        taken.set(key, found.value)
      }
      for (const key of keys) values.delete(key)
      return taken
    },
  }
}
