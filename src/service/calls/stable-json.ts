/** Returns a JSON value with the keys of all its objects in one order. */
export function sortedKeys<T>(value: T): T {
  // A list of a hundred websites is the most that a call usually has.
  if (Array.isArray(value)) return value.map((each) => (isObject(each) ? sortedKeys(each) : each)) as T
  if (!isObject(value)) return value
  const entries = Object.entries(value).filter(([, each]) => each !== undefined)
  entries.sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, each]) => [name, sortedKeys(each)])) as T
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
