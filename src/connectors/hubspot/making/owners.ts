import type { Owner } from '../../creating.ts'
import { ownersSchema, paths, type HubspotEntity } from '../api/wire.ts'
import { batchRead } from '../records.ts'
import type { MakerDeps } from './deps.ts'

const pageSize = 500

/**
 * Returns those of these owners that the account has. HubSpot lists the owners of an account whole: those whose user has left are in a
 * list of their own, which is read only where one is missing.
 */
export async function readOwners(
  { api }: Pick<MakerDeps, 'api'>,
  ids: readonly string[],
): Promise<Map<string, Owner>> {
  const found = new Map<string, Owner>()
  for (const archived of ['false', 'true']) {
    let after: string | undefined
    do {
      if (ids.every((id) => found.has(id))) return found
      const { results, paging } = await api.need(ownersSchema, {
        method: 'GET',
        path: paths.owners,
        query: { limit: String(pageSize), archived, ...(after === undefined ? {} : { after }) },
      })
      for (const owner of results)
        if (ids.includes(owner.id) && !found.has(owner.id))
          found.set(owner.id, { id: owner.id, name: nameOf(owner), isActive: !owner.archived })
      after = paging?.next?.after
    } while (after !== undefined)
  }
  return found
}

/** Returns the owner of each of these records, where it is there and has one. */
export async function ownersOf(
  { api }: Pick<MakerDeps, 'api'>,
  entity: HubspotEntity,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const read = await batchRead(api, entity, ids, [ownerProperty])
  return new Map(
    [...read].flatMap(([id, { properties }]): [string, string][] => {
      const owner = properties[ownerProperty]
      return owner ? [[id, owner]] : []
    }),
  )
}

export const ownerProperty = 'hubspot_owner_id'

function nameOf({ id, firstName, lastName, email }: (typeof ownersSchema)['_output']['results'][number]) {
  return [firstName, lastName].filter(Boolean).join(' ') || email || id
}
