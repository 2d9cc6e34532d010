import { identityOfValues } from '../domain/identity.ts'
import type { NamedRecord, RecordIndex } from '../domain/ports/record-index.ts'
import type { FieldValue, Patch } from '../domain/record.ts'
import type { ObjectKind } from '../domain/words.ts'
import type { Connector } from './connector.ts'

/**
 * Returns the connector with an index that learns from all of its calls: each page of a scan, each record that is read, and each
 * value that is written. So a record is found again also where nothing is bought for it.
 */
export function indexed(connector: Connector, index: RecordIndex): Connector {
  const { name, entities } = connector
  return {
    ...connector,
    async *scan(entity, options) {
      for await (const page of connector.scan(entity, options)) {
        const gone = page.records.filter((record) => record.gone !== undefined)
        const merged = page.records.flatMap(({ mergedIds = [] }) => mergedIds)
        await index.drop(name, entity, [...gone.map(({ id }) => id), ...merged])
        await index.keep(
          name,
          entity,
          page.records.filter((record) => record.gone === undefined),
        )
        yield page
      }
    },

    async read(entity, ids, later) {
      const found = await connector.read(entity, ids)
      const object = entities[entity] as ObjectKind
      const present = [...found].flatMap(([id, record]): NamedRecord[] =>
        record.state === 'present'
          ? [
              {
                id,
                object,
                identity: record.identity ?? identityOfValues(object, record.values),
                values: record.values,
              },
            ]
          : [],
      )
      const away = [...found].flatMap(([id, { state }]) => (goneStates.has(state) ? [id] : []))
      const learn = async () => {
        await index.drop(name, entity, away)
        await index.keep(name, entity, present)
      }
      if (later) later(learn)
      else await learn()
      return found
    },

    async write(entity, patches) {
      const results = await connector.write(entity, patches)
      const object = entities[entity] as ObjectKind
      const written = results.flatMap(({ id, status }, at): NamedRecord[] => {
        const values = status === 'written' ? valuesOf(patches[at]?.patch ?? {}) : {}
        return Object.keys(values).length > 0 ? [{ id, object, identity: {}, values }] : []
      })
      await index.add(name, entity, written)
      return results
    },
  }
}

const goneStates: ReadonlySet<string> = new Set(['gone', 'merged', 'converted'])

/** A field that did not fit may be among them: the record's next reading corrects that. */
function valuesOf(patch: Patch): Record<string, FieldValue> {
  return Object.fromEntries(
    Object.entries(patch).flatMap(([field, change]) =>
      'set' in change ? [[field, change.set] as const] : [],
    ),
  )
}
