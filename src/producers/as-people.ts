import type { Connector } from '../connectors/connector.ts'
import { PaydirtError } from '../domain/errors.ts'
import type { ObjectKind } from '../domain/words.ts'

interface Asked {
  entity: string
  object: ObjectKind
  ids: readonly string[]
  recipe: string
}

/**
 * Divides requested records by the entity under which each is kept: a person account is asked for as an account, and
 * enriched as the contact that it is. Leaves them as they are when the CRM does not answer: the records are read later,
 * and the reason is told then.
 */
export async function asPeople<T extends Asked>(
  connector: Connector | undefined,
  asked: T,
  recipeFor: (object: ObjectKind, name: string) => string,
): Promise<T[]> {
  const people = await connector?.people?.(asked.entity, asked.ids).catch((error: unknown) => {
    if (error instanceof PaydirtError) return undefined
    throw error
  })
  if (!connector || !people || people.size === 0) return [asked]
  const kept = asked.ids.filter((id) => !people.has(id))
  const groups = [...Map.groupBy(people.values(), ({ entity }) => entity)].map(([entity, records]): T => {
    const object = connector.entities[entity] as ObjectKind
    const ids = [...new Set(records.map(({ id }) => id))]
    return { ...asked, entity, object, ids, recipe: recipeFor(object, asked.recipe) }
  })
  return kept.length > 0 ? [{ ...asked, ids: kept }, ...groups] : groups
}
