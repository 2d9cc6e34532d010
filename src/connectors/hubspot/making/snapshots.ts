import type { RecordSnapshot } from '../../creating.ts'
import type { HubspotEntity } from '../api/wire.ts'
import { readAssociations } from '../associations.ts'
import { batchRead } from '../records.ts'
import type { MakerDeps } from './deps.ts'

/** The kinds of records by whose ties a person shows that a record is in use. */
const tiedKinds = ['deals', 'tickets', 'notes', 'tasks', 'calls', 'meetings', 'emails'] as const

/**
 * Returns what others can change of each record: its writable properties, the owner among them, and the number of records of each
 * kind that are tied to it.
 */
export async function snapshots(
  { api, properties, mapping }: MakerDeps,
  entity: HubspotEntity,
  ids: readonly string[],
): Promise<Map<string, RecordSnapshot>> {
  const described = await properties.describe(entity)
  const names = described.filter(({ writable }) => writable).map(({ name }) => name)
  const read = await batchRead(api, entity, ids, names)
  const there = [...read].flatMap(([id, object]) => (object.id === id ? [{ id, object }] : []))
  const tied = new Map(there.map(({ id }): [string, Record<string, number>] => [id, {}]))
  const kinds = [...tiedKinds, ...Object.keys(mapping.entities).filter((other) => other !== entity)]
  for (const kind of there.length > 0 ? kinds : []) {
    const links = await readAssociations(api, entity, kind, [...tied.keys()])
    for (const [id, others] of links) if (others.length > 0) tied.get(id)![kind] = others.length
  }
  return new Map(
    there.map(({ id, object }): [string, RecordSnapshot] => [
      id,
      {
        properties: Object.fromEntries(
          names.flatMap((name) => (object.properties[name] ? [[name, object.properties[name]]] : [])),
        ),
        tied: tied.get(id)!,
      },
    ]),
  )
}
