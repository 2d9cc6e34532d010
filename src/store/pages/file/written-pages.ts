/** Pages that are kept as they are, until they are compressed. */
export interface WrittenPages extends Iterable<[page: number, atMs: number]> {
  readonly count: number
  /** The time of the page that was written first; undefined without one. */
  readonly oldestMs: number | undefined
  /** A page that was there before the file was opened was written at 0. */
  note(page: number, atMs?: number): void
  at(page: number): number | undefined
  delete(page: number): void
  clear(): void
}

/** In the order in which they were written. No two that are written here have one time. */
export function createWrittenPages(nowMs: () => number): WrittenPages {
  const times = new Map<number, number>()
  let lastMs = 0
  return {
    get count() {
      return times.size
    },
    get oldestMs() {
      return times.values().next().value
    },
    note(page, atMs = Math.max(nowMs(), lastMs + 0.001)) {
      lastMs = Math.max(lastMs, atMs)
      times.delete(page)
      times.set(page, atMs)
    },
    at: (page) => times.get(page),
    delete: (page) => void times.delete(page),
    clear: () => times.clear(),
    [Symbol.iterator]: () => times.entries(),
  }
}
