/** Returns the body of an answer as an object; undefined when it is not an object. */
export function objectOf(body: string): Record<string, unknown> | undefined {
  try {
    return asRecord(JSON.parse(body))
  } catch {
    return undefined
  }
}

export function asRecord(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined
}

/**
 * Returns the people of an answer from any place where the list may be: `data.peoples`, `peoples`, or `data` itself.
 * The service writes null for an empty list. Returns undefined when there is no list at all.
 */
export function peoplesOf(answer: Record<string, unknown>): unknown[] | undefined {
  const { data } = answer
  const inside = asRecord(data)
  for (const place of [inside?.['peoples'], answer['peoples'], data]) {
    if (Array.isArray(place)) return place
    if (place === null) return []
  }
  const isPerson = inside && ['match', 'people_search_id', 'emails', 'phones'].some((name) => name in inside)
  return isPerson ? [inside] : undefined
}
