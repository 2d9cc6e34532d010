/** What Postgres has no place for in a text: NUL, and halves of characters that somebody cut in two. JSON writes both as escapes. */
const maybeUnstorable = /\\u(0000|d[89a-f])/i

/**
 * JSON that a jsonb column takes, whatever the value holds: an answer was paid for and must not be lost for a character that
 * nobody can read. NUL is left out, half a character becomes U+FFFD.
 */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value)
  return maybeUnstorable.test(json) ? JSON.stringify(clean(JSON.parse(json))) : json
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed().replaceAll('\0', '')
  if (Array.isArray(value)) return value.map(clean)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [clean(key), clean(each)]))
}
