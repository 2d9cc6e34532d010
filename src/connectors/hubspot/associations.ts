import type { Association } from '../connector.ts'
import type { HubspotApi } from './api/client.ts'
import { associationsSchema, paths } from './api/wire.ts'

const associationLimit = 1000

/** Returns the records of a kind that are tied to each of these, with an entry for every id. */
export async function readAssociations(
  api: HubspotApi,
  from: string,
  to: string,
  ids: readonly string[],
): Promise<Map<string, Association[]>> {
  const found = new Map(ids.map((id): [string, Association[]] => [id, []]))
  let asked: { id: string; after?: string }[] = [...found.keys()]
    .filter((id) => /^\d{1,19}$/.test(id))
    .map((id) => ({ id }))
  if (from === to) return found
  while (asked.length > 0) {
    // A record without associations is an error in a 207: its list stays empty.
    const { results } = await api.need(associationsSchema, {
      method: 'POST',
      path: paths.associations(from, to),
      body: { inputs: asked.slice(0, associationLimit) },
    })
    const unfinished = results.flatMap(({ from: { id }, paging }) =>
      paging?.next ? [{ id, after: paging.next.after }] : [],
    )
    for (const { from: record, to: tied } of results) {
      found.get(record.id)?.push(
        ...tied.map(({ toObjectId, associationTypes }) => ({
          id: toObjectId,
          primary: associationTypes.some(({ label }) => label === 'Primary'),
        })),
      )
    }
    asked = [...asked.slice(associationLimit), ...unfinished]
  }
  return found
}

/** Returns today's count of a private app; undefined for tokens that may not ask. */
