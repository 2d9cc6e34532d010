import { ConfigError } from '../../../domain/errors.ts'
import { creating } from '../../../domain/mapping/creating.ts'
import type { RecordMaker } from '../../creating.ts'
import type { HubspotEntity } from '../api/wire.ts'
import { entityMapping } from '../properties.ts'
import { writeLimit } from '../write.ts'
import { archive } from './archive.ts'
import { associate } from './associate.ts'
import { checkMaking } from './check.ts'
import { create } from './create.ts'
import type { MakerDeps } from './deps.ts'
import { neededFields } from './draft.ts'
import { find } from './find.ts'
import { findByKey } from './find-by-key.ts'
import { ownersOf, readOwners } from './owners.ts'
import { snapshots } from './snapshots.ts'

/** Companies and contacts of an account as records that can be found, made and archived. */
export function createHubspotMaker(deps: MakerDeps, known: (entity: string) => HubspotEntity): RecordMaker {
  return {
    perCreate: writeLimit,
    // https://knowledge.hubspot.com/records/restore-deleted-records
    bin: { keptDays: 90, place: 'the list of the object in HubSpot, Actions > Restore records' },
    find: async (entity, identities) => find(deps, known(entity), identities),
    needsOneOf: (entity) => neededFields(known(entity), creating(entityMapping(deps.mapping, entity))),
    findByKey: async (entity, keys) => findByKey(deps, known(entity), keys),
    companiesOf: (entity) =>
      known(entity) === 'contacts' && deps.mapping.entities['companies'] ? 'companies' : undefined,
    owners: async (_, ids) => readOwners(deps, ids),
    ownersOf: async (entity, ids) => ownersOf(deps, known(entity), ids),
    create: async (entity, drafts) => create(deps, known(entity), drafts),
    archive: async (entity, ids) => archive(deps, known(entity), ids),
    async associate(entity, toEntity, pairs) {
      const [from, to] = [known(entity), known(toEntity)]
      if (from === to)
        throw new ConfigError('no_such_association', `HubSpot ties no ${from} to ${to}: name another object`)
      return associate(deps, from, to, pairs)
    },
    check: async (entity) => checkMaking(deps, known(entity)),
    snapshots: async (entity, ids) => snapshots(deps, known(entity), ids),
  }
}
