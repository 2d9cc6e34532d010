/** The body of an answer as an object; undefined when it is none. */
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
 * The people of an answer, wherever the list stands: `data.peoples`, `peoples`, or `data` itself. A null stands for an
 * empty list, as the service writes it. Undefined when there is no list at all.
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
