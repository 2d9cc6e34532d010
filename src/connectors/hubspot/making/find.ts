import type { z } from 'zod'
import type { SourceRecord } from '../../../domain/record.ts'
import type { RecordIdentity } from '../../../domain/subjects/record-identities.ts'
import { pageSchema, paths, type HubspotEntity, type HubspotObject } from '../api/wire.ts'
import { entityMapping } from '../properties.ts'
import { batchRead, readProperties, toSourceRecord } from '../records.ts'
import type { MakerDeps } from './deps.ts'
import { readBy } from './read-by.ts'
import { searchBodies, type SearchBody } from './search-bodies.ts'
import { probesOf } from './spellings.ts'

/** The calls for a hundred companies or people: those found are read by one of them. */
const callsPerHundred = 5
const batchLimit = 100
/** A search shows no more results than these, whatever their number. */
const maxResults = 10_000

/**
 * Returns the records that have one of these identities. E-mails are read by the property that is unique by itself, all else is
 * searched, and what is found is read: the search's index lags behind the records.
 */
export async function find(
  { api, properties, mapping, networkHosts }: MakerDeps,
  entity: HubspotEntity,
  identities: readonly RecordIdentity[],
): Promise<SourceRecord[]> {
  const entityMap = entityMapping(mapping, entity)
  const fields = await properties.fitting(entity)
  const names = readProperties(mapping, entity, entityMap)
  const found = new Map<string, HubspotObject>()

  const emails = entity === 'contacts' ? valuesOf(identities, 'email') : []
  for (const object of await readBy(api, entity, 'email', emails, names)) found.set(object.id, object)

  const hundreds = Math.ceil(mostOfAKind(identities) / batchLimit)
  const calls = hundreds * (callsPerHundred - 1) - Math.ceil(emails.length / batchLimit)
  const probes = probesOf(identities, entityMap, networkHosts).filter(({ property }) => fields.has(property))
  const ids = new Set<string>()
  for (const body of searchBodies(probes, calls))
    for (const id of await search(api, entity, body)) ids.add(id)

  const unread = [...ids].filter((id) => !found.has(id))
  // One that was archived or merged since is not there any more; the record it was merged into is found by itself.
  for (const [id, object] of await batchRead(api, entity, unread, names))
    if (object.id === id) found.set(id, object)
  return [...found.values()].map((object) => toSourceRecord(object, entityMap, fields))
}

async function search(api: MakerDeps['api'], entity: HubspotEntity, body: SearchBody): Promise<string[]> {
  const ids: string[] = []
  let after: string | undefined = body.after
  while (after !== undefined && Number(after) + body.limit <= maxResults) {
    const page: z.output<typeof pageSchema> = await api.need(pageSchema, {
      method: 'POST',
      path: paths.search(entity),
      kind: 'search',
      body: { ...body, after },
    })
    ids.push(...page.results.map(({ id }) => id))
    after = page.paging?.next?.after
  }
  return ids
}

function valuesOf(identities: readonly RecordIdentity[], wanted: RecordIdentity['kind']): string[] {
  return [...new Set(identities.flatMap(({ kind, value }) => (kind === wanted ? [value] : [])))]
}

/** About the number of companies or people: most have one identity of a kind. */
function mostOfAKind(identities: readonly RecordIdentity[]): number {
  const kinds = Map.groupBy(identities, ({ kind }) => kind)
  return Math.max(0, ...[...kinds.values()].map(({ length }) => length))
}
