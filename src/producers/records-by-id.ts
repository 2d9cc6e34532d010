import type { Connector, CurrentRecord, Later } from '../connectors/connector.ts'
import { identityOfValues } from '../domain/identity.ts'
import type { FieldValue, SourceRecord } from '../domain/record.ts'
import type { ObjectKind } from '../domain/words.ts'

export type FoundRecord =
  | { state: 'present'; record: SourceRecord; values: Record<string, FieldValue> }
  | Exclude<CurrentRecord, { state: 'present' }>

/** Reads records by their ids, with their identities. The result has every id asked for. */
export async function recordsById(
  connector: Connector,
  entity: string,
  ids: readonly string[],
  later?: Later,
): Promise<Map<string, FoundRecord>> {
  const object = connector.entities[entity] as ObjectKind
  const current = await connector.read(entity, ids, later)
  return new Map(
    ids.map((id): [string, FoundRecord] => {
      const found = current.get(id) ?? { state: 'gone' }
      if (found.state !== 'present') return [id, found]
      const identity = found.identity ?? identityOfValues(object, found.values)
      return [id, { state: 'present', record: { id, object, identity }, values: found.values }]
    }),
  )
}
