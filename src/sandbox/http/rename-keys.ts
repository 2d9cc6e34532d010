/** Replaces the neutral word with the network's own name, in keys only. */
export function renameKeys(value: unknown, word: string): unknown {
  if (word === 'profnet' || typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((each) => renameKeys(each, word))
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key.replace('profnet', word), renameKeys(each, word)]),
  )
}
