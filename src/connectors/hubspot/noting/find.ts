import { markersIn } from '../../../domain/notes/marker.ts'
import type { WantedNote } from '../../noting.ts'
import type { HubspotEntity } from '../api/wire.ts'
import { readAssociations } from '../associations.ts'
import { batchRead } from '../records.ts'
import type { NotingDeps } from './deps.ts'
import { bodyOf, objectOf } from './kinds.ts'

const pageSize = 100

/**
 * Returns the notes and tasks that have one of these markers, by marker. They are read through what is tied to their records: HubSpot's
 * search shows a new one only after some seconds, and would let a second one be written.
 */
export async function findByMarker(
  { api }: NotingDeps,
  entity: HubspotEntity,
  wanted: readonly WantedNote[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  for (const [kind, group] of Map.groupBy(wanted, (each) => each.kind)) {
    const object = objectOf[kind]
    const records = [...new Set(group.map(({ recordId }) => recordId))]
    const ties = await readAssociations(api, entity, object, records)
    // Ids grow: what was written lately is read first.
    const ids = [...new Set([...ties.values()].flat().map(({ id }) => id))].toSorted((a, b) =>
      BigInt(a) < BigInt(b) ? 1 : -1,
    )
    const open = new Set(group.map(({ marker }) => marker))
    for (let at = 0; at < ids.length && open.size > 0; at += pageSize)
      for (const [id, { properties }] of await batchRead(api, object, ids.slice(at, at + pageSize), [
        bodyOf[object],
      ]))
        for (const marker of markersIn(properties[bodyOf[object]] ?? ''))
          if (open.delete(marker)) found.set(marker, id)
  }
  return found
}
