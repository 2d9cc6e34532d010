import { PaydirtError } from '../../../domain/errors.ts'
import { z } from 'zod'
import { paths, type HubspotEntity } from '../api/wire.ts'
import { entityMapping } from '../properties.ts'
import { batchRead, isOurs, readProperties } from '../records.ts'
import { writeLimit } from '../write.ts'
import type { NotingDeps } from './deps.ts'

/** Records to which notes are written or from which they are removed, as they were before. */
export interface StampedRecords {
  /** The id that a record has now, by the id asked for; those that are gone are left out. */
  ids: ReadonlyMap<string, string>
  /** The records whose last change was our own write. */
  ours: readonly string[]
}

/**
 * Reads records before their notes change: HubSpot dates a record anew with every note that is tied to it or removed, so that the next
 * scan would take our own note for an edit.
 */
export async function readStamps(
  { api, mapping }: NotingDeps,
  entity: HubspotEntity,
  ids: readonly string[],
): Promise<StampedRecords> {
  const names = readProperties(mapping, entity, entityMapping(mapping, entity))
  const read = await batchRead(api, entity, ids, names)
  const ours = [...read.values()].filter((object) => isOurs(object, entity, mapping)).map(({ id }) => id)
  return { ids: new Map([...read].map(([id, object]) => [id, object.id])), ours: [...new Set(ours)] }
}

/**
 * Dates our stamp anew in those of these records that nobody else had changed since our last write. A record whose stamp could not be
 * renewed, or whose process was killed before it, is scanned again: from answers that are paid for.
 */
export async function renewStamps(
  { api, mapping, now }: NotingDeps,
  entity: HubspotEntity,
  { ours }: StampedRecords,
  changed: ReadonlySet<string>,
): Promise<void> {
  const ids = ours.filter((id) => changed.has(id))
  try {
    for (let at = 0; at < ids.length; at += writeLimit)
      await api.call(z.unknown(), {
        method: 'POST',
        path: paths.batchUpdate(entity),
        body: {
          inputs: ids.slice(at, at + writeLimit).map((id) => ({
            id,
            properties: { [mapping.own.enrichedAt]: new Date(now()).toISOString() },
          })),
        },
      })
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
  }
}
