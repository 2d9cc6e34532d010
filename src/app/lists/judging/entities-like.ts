import { crmOf } from '../../../connectors/definitions.ts'
import type { ListSettings } from '../../config/lists.ts'

/** Returns the entities of a CRM with whose records those of one are compared: a lead may be a contact already. */
export function entitiesLike({
  connector,
  entity,
}: Pick<ListSettings['into'], 'connector' | 'entity'>): string[] {
  const { entities } = crmOf(connector)
  const others = Object.keys(entities).filter(
    (each) => each !== entity && entities[each] === entities[entity],
  )
  return [entity, ...(entities[entity] === 'person' ? others : [])]
}
