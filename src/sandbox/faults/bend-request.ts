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

  // A batch has the keys of a single request in each of its entries.
  const objects = [body, ...entriesOf(body)]
  for (const { from, to, isFollowed } of renamed) {
    const sent = objects.filter((each) => each[from] !== undefined)
    if (sent.length > 0) {
      bent.renamedFields.push({ from, to })
      if (!isFollowed) bent.ignoredFields.push(from)
    }
    if (!isFollowed) for (const each of sent) delete each[from]
    for (const each of objects) {
      // The endpoint itself knows the old name alone.
      if (each[to] !== undefined) each[from] = each[to]
      delete each[to]
    }
  }
  for (const { key, silent } of dropped) {
    const sent = objects.filter((each) => each[key] !== undefined)
    for (const each of sent) delete each[key]
    if (sent.length > 0 && !silent) bent.ignoredFields.push(key)
  }
  return { ...bent, text: JSON.stringify(body) }
}

function entriesOf({ peoples }: Record<string, unknown>): Record<string, unknown>[] {
  return Array.isArray(peoples) ? peoples.filter((each) => typeof each === 'object' && each !== null) : []
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
