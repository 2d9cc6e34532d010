import { ConfigError } from '../../../domain/errors.ts'
import type { CrmMapping } from '../../../domain/mapping/mapping.ts'
import type { NoteWriter } from '../../noting.ts'
import type { SalesforceClient } from '../api/client.ts'
import { collectionSize } from '../api/collections.ts'
import type { SchemaCache } from '../api/schema-cache.ts'
import { findByMarker } from './find.ts'
import { remove } from './remove.ts'
import { snapshots } from './snapshots.ts'
import { write } from './write.ts'

/** Notes and tasks of one org. */
export function createSalesforceNotes(
  { client, schema, mapping }: { client: SalesforceClient; schema: SchemaCache; mapping: CrmMapping },
  inTurn: <T>(entity: string, send: () => Promise<T>) => Promise<T>,
): NoteWriter {
  const assertKnown = (entity: string): void => {
    if (!mapping.entities[entity])
      throw new ConfigError('unknown_entity', `Salesforce has no object "${entity}" in the mapping`)
  }
  return {
    perWrite: collectionSize,
    async findByMarker(entity, wanted) {
      assertKnown(entity)
      return findByMarker(client, entity, wanted)
    },
    async write(entity, drafts) {
      assertKnown(entity)
      const { keyPrefix } = await schema.describe(entity)
      return write({ client, inTurn }, entity, keyPrefix, drafts)
    },
    async snapshots(entity, written) {
      assertKnown(entity)
      return snapshots(client, written)
    },
    async remove(entity, written) {
      assertKnown(entity)
      return remove(client, written)
    },
    async check(entity) {
      assertKnown(entity)
      const problems: { code: string; message: string; todo: string }[] = []
      for (const object of ['Note', 'Task']) {
        const isCreateable = await schema.describe(object).then(
          ({ createable }) => createable,
          (error: unknown) => {
            if (error instanceof ConfigError) return false
            throw error
          },
        )
        if (!isCreateable)
          problems.push({
            code: 'salesforce_notes',
            message: `the integration user may not create records of ${object}`,
            todo:
              object === 'Task'
                ? 'Give it the permissions "Edit Tasks" and "Access Activities".'
                : `Give it edit access to ${entity}: notes follow the records that they belong to.`,
          })
      }
      return problems
    },
  }
}
