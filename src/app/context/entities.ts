import type { Connector } from '../../connectors/connector.ts'
import { entitiesNamed } from '../../domain/entity-names.ts'
import { ConfigError } from '../../domain/errors.ts'

/**
 * Returns the connector's entities of an object, or the one of that name, singular or plural; all of them when none is asked
 * for. Throws ConfigError when the connector has none.
 */
export function entitiesOf(connector: Connector, wanted: string | undefined): string[] {
  const all = Object.keys(connector.entities)
  if (wanted === undefined) return all
  const found = entitiesNamed(connector.entities, wanted)
  if (found.length > 0) return found
  throw new ConfigError(
    'no_such_object',
    `${connector.name} has no ${wanted}; it has ${all.join(', ')} (or company, person)`,
  )
}
