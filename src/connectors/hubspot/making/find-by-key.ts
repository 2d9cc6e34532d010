import type { HubspotEntity } from '../api/wire.ts'
import { assertCreatable } from './draft.ts'
import type { MakerDeps } from './deps.ts'
import { readBy } from './read-by.ts'

/** Returns the records that have one of our keys, by the key. One that was merged since has the id of the record that is left. */
export async function findByKey(
  { api, properties, mapping }: MakerDeps,
  entity: HubspotEntity,
  keys: readonly string[],
): Promise<Map<string, string>> {
  if (keys.length === 0) return new Map()
  const key = assertCreatable(mapping, entity, await properties.fitting(entity), [])
  const found = await readBy(api, entity, key, keys, [])
  return new Map(
    found.flatMap(({ id, properties: held }): [string, string][] => (held[key] ? [[held[key], id]] : [])),
  )
}
