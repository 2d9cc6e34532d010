import { RetriableError } from '../../../domain/errors.ts'
import type { HubspotApi } from '../api/client.ts'
import { batchSchema, paths, type HubspotEntity, type HubspotObject } from '../api/wire.ts'

const readLimit = 100

/**
 * Reads records by the values of a unique property, 100 a call. Unlike a search it sees a record at once. Values that no
 * record has are passed over.
 */
export async function readBy(
  api: HubspotApi,
  entity: HubspotEntity,
  idProperty: string,
  values: readonly string[],
  properties: readonly string[],
): Promise<HubspotObject[]> {
  const found: HubspotObject[] = []
  const unique = [...new Set(values)]
  for (let at = 0; at < unique.length; at += readLimit) {
    const inputs = unique.slice(at, at + readLimit).map((id) => ({ id }))
    const { results, errors = [] } = await api.need(batchSchema, {
      method: 'POST',
      path: paths.batchRead(entity),
      body: {
        inputs,
        idProperty,
        properties: [...new Set([...properties, idProperty])],
        propertiesWithHistory: [],
      },
    })
    const failed = errors.find(({ category }) => category !== 'OBJECT_NOT_FOUND')
    // A record that could not be read is not one that is missing: it would be made a second time.
    if (failed)
      throw new RetriableError(
        'hubspot_read_failed',
        `HubSpot could not read all records: ${failed.category}`,
      )
    found.push(...results)
  }
  return found
}
