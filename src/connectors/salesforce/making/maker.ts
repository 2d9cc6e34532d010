import { ConfigError } from '../../../domain/errors.ts'
import type { EntityMapping } from '../../../domain/mapping/mapping.ts'
import type { RecordMaker } from '../../creating.ts'
import { collectionSize } from '../api/collections.ts'
import { archiveRecords } from './archive.ts'
import { associateRecords } from './associate.ts'
import { createRecords } from './create.ts'
import type { MakerDeps } from './deps.ts'
import { checkCreating, keyFieldOf } from './draft.ts'
import { findRecords } from './find.ts'
import { findByKey } from './keys.ts'
import { ownersOf, readOwners } from './owners.ts'
import { snapshotsOf } from './snapshots.ts'

/** Finds, makes and archives the records of one org. */
export function createMaker(
  deps: Omit<MakerDeps, 'inTurn'>,
  inTurn: <T>(entity: string, send: () => Promise<T>) => Promise<T>,
): RecordMaker {
  const depsFor = (entity: string): MakerDeps => ({ ...deps, inTurn: (send) => inTurn(entity, send) })
  const mappingOf = (entity: string): EntityMapping => {
    const found = deps.mapping.entities[entity]
    if (found) return found
    throw new ConfigError('unknown_entity', `Salesforce has no object "${entity}" in the mapping`)
  }
  return {
    perCreate: collectionSize,
    bin: { keptDays: 15, place: 'the recycle bin of the org (App Launcher → Recycle Bin → Org Recycle Bin)' },
    find: async (entity, identities) => findRecords(depsFor(entity), entity, mappingOf(entity), identities),
    async findByKey(entity, keys) {
      mappingOf(entity)
      if (keys.length === 0) return new Map()
      const object = await deps.schema.describe(entity)
      const found = await findByKey(deps.client, object, keyFieldOf(deps.mapping, entity, object), keys)
      return new Map(
        keys.flatMap((key): [string, string][] => {
          const id = found.get(key.toLowerCase())
          return id === undefined ? [] : [[key, id]]
        }),
      )
    },
    companiesOf(entity) {
      mappingOf(entity)
      return entity === 'Contact' && deps.mapping.entities['Account'] ? 'Account' : undefined
    },
    async check(entity) {
      const object = await deps.schema.describe(entity)
      return checkCreating(deps.mapping, entity, object)
    },
    async owners(entity, ids) {
      return ids.length === 0 ? new Map() : readOwners(deps, entity, ids)
    },
    async ownersOf(entity, ids) {
      mappingOf(entity)
      return ids.length === 0 ? new Map() : ownersOf(deps, entity, ids)
    },
    async create(entity, drafts) {
      mappingOf(entity)
      return drafts.length === 0 ? [] : createRecords(depsFor(entity), entity, drafts)
    },
    async archive(entity, ids) {
      mappingOf(entity)
      return ids.length === 0 ? [] : archiveRecords(depsFor(entity), entity, ids)
    },
    associate: (entity, toEntity, pairs) => associateRecords(depsFor(entity), entity, toEntity, pairs),
    async snapshots(entity, ids) {
      mappingOf(entity)
      return ids.length === 0 ? new Map() : snapshotsOf(depsFor(entity), entity, ids)
    },
  }
}
