import type { Owner } from '../../../connectors/creating.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { counted } from '../../../domain/values/counted.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { MakingConnector } from './fit-row.ts'

type OwnerSetting = ListSettings['into']['owner']

/** Tells which owners the CRM has, and asks it once about each. */
export interface KnownOwners {
  find(ids: readonly string[]): Promise<Map<string, Owner>>
}

export function knownOwners({ maker }: MakingConnector, entity: string): KnownOwners {
  const known = new Map<string, Owner | undefined>()
  return {
    async find(ids) {
      const asked = [...new Set(ids)].filter((id) => !known.has(id))
      const found = asked.length === 0 ? new Map<string, Owner>() : await maker.owners(entity, asked)
      for (const id of asked) known.set(id, found.get(id))
      return new Map(
        ids.flatMap((id): [string, Owner][] => {
          const owner = known.get(id)
          return owner ? [[id, owner]] : []
        }),
      )
    },
  }
}

/** Returns the owners that the settings name. */
function namedOwners(owner: OwnerSetting): string[] {
  if (owner === undefined) return []
  if (typeof owner === 'string') return [owner]
  return 'roundRobin' in owner ? owner.roundRobin : []
}

/** Throws ConfigError where the CRM has no such owner, or its user has left: nothing would be made, or nobody would care for it. */
export async function assertOwners(owners: KnownOwners, { into }: ListSettings, list: string): Promise<void> {
  const named = namedOwners(into.owner)
  if (named.length === 0) return
  const found = await owners.find(named)
  const unknown = named.filter((id) => !found.has(id))
  const gone = named.filter((id) => found.get(id)?.isActive === false)
  if (unknown.length === 0 && gone.length === 0) return
  const faults = [
    ...(unknown.length > 0 ? [`${into.connector} has no owner ${unknown.join(', ')} of ${into.entity}`] : []),
    ...(gone.length > 0
      ? [`${counted(gone.length, 'owner')} cannot own records any more: ${gone.join(', ')}`]
      : []),
  ]
  throw new ConfigError(
    'bad_owner',
    `lists.${list}.into.owner: ${faults.join('; ')}. Name the id of a user who is active`,
  )
}

/** Returns the owner of the record at this place of the plan, where the settings decide it: the same for every repeat. */
export function ownerAt(owner: OwnerSetting, place: number): string | undefined {
  const named = namedOwners(owner)
  return named[place % Math.max(1, named.length)]
}
