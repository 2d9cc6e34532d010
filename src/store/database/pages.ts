/** Items in pages, so that no statement grows with a run: Postgres takes 65,535 parameters at most. */
export function* pages<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size)
}
