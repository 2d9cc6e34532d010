import type { Faults } from './faults.ts'

export interface BentRequest {
  /** The body as the endpoint gets to see it. */
  text: string | null
  ignoredFields: string[]
  renamedFields: { from: string; to: string }[]
}

/** Returns a body as a service reads it whose parameters are not those of the description. */
export function bendRequest(
  { renamedKeys, droppedFilters }: Pick<Faults, 'renamedKeys' | 'droppedFilters'>,
  endpoint: string,
  text: string | null,
): BentRequest {
  const bent: BentRequest = { text, ignoredFields: [], renamedFields: [] }
  const renamed = renamedKeys.filter(({ only }) => isFor(only, endpoint))
  const dropped = droppedFilters.filter(({ only }) => isFor(only, endpoint))
  const body = renamed.length + dropped.length === 0 ? null : parsed(text)
  if (body === null) return bent

  for (const { from, to, isFollowed } of renamed) {
    const [old, current] = [body[from], body[to]]
    delete body[to]
    if (old !== undefined) {
      bent.renamedFields.push({ from, to })
      if (!isFollowed) {
        delete body[from]
        bent.ignoredFields.push(from)
      }
    }
    // The endpoint itself knows the old name alone.
    if (current !== undefined) body[from] = current
  }
  for (const { key, silent } of dropped) {
    if (body[key] === undefined) continue
    delete body[key]
    if (!silent) bent.ignoredFields.push(key)
  }
  return { ...bent, text: JSON.stringify(body) }
}

/** Returns whether a fault is for an endpoint. It is for all if it names none. */
export function isFor(only: readonly string[], endpoint: string): boolean {
  return only.length === 0 || only.includes(endpoint)
}

function parsed(text: string | null): Record<string, unknown> | null {
  try {
    const body: unknown = JSON.parse(text ?? '')
    return typeof body === 'object' && body !== null && !Array.isArray(body)
      ? (body as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}
