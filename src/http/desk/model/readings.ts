/** Shares one reading among all readers within `freshMs`, as long as `state` stays the same. */
export function shareReadings<T>(
  read: () => Promise<T>,
  freshMs: number,
  state: () => string = () => '',
): () => Promise<T> {
  let last: { atMs: number; state: string; value: Promise<T> } | undefined
  return () => {
    if (!last || performance.now() - last.atMs > freshMs || last.state !== state()) {
      const value = read()
      const reading = { atMs: performance.now(), state: state(), value }
      last = reading
      value.catch(() => {
        if (last === reading) last = undefined
      })
    }
    return last.value
  }
}

/**
 * Returns the latest value at once and refreshes it in the background when it is older than `freshMs`, so that a slow
 * source delays no page. Only until the first value arrives does a reader wait, for at most `patienceMs`.
 */
export function latestReading<T>(
  read: () => Promise<T>,
  { freshMs, patienceMs }: { freshMs: number; patienceMs: number },
): () => Promise<T | undefined> {
  let last: { atMs: number; value: T } | undefined
  let reading: Promise<T | undefined> | undefined
  return async () => {
    if (!last || performance.now() - last.atMs > freshMs) {
      reading ??= read()
        .then((value) => {
          last = { atMs: performance.now(), value }
          return value
        })
        .catch(() => undefined)
        .finally(() => {
          reading = undefined
        })
    }
    if (last) return last.value
    return Promise.race([
      reading,
      new Promise<undefined>((resolve) => void setTimeout(resolve, patienceMs, undefined).unref()),
    ])
  }
}

/** A source has not answered in the time that its reader has. */
class SlowSourceError extends Error {}

/**
 * Returns the reading, or rejects after `patienceMs`. While a reading is under way no other begins, so that the readers of a
 * source that hangs do not heap up questions.
 */
export function createPrompt<T>(read: () => Promise<T>, patienceMs: number): () => Promise<T> {
  let reading: Promise<T> | undefined
  return async () => {
    reading ??= read().finally(() => {
      reading = undefined
    })
    // Rejects after its reader has left, too.
    reading.catch(() => {})
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new SlowSourceError('the source does not respond')), patienceMs)
    })
    return Promise.race([reading, late]).finally(() => clearTimeout(timer))
  }
}
