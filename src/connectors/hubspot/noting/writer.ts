import { ownerScope } from '../making/scopes.ts'
import type { NoteWriter } from '../../noting.ts'
import type { HubspotEntity } from '../api/wire.ts'
import { grantedScopes } from '../check.ts'
import { writeLimit } from '../write.ts'
import { findByMarker } from './find.ts'
import { noteScopes } from './kinds.ts'
import { remove } from './remove.ts'
import { snapshots } from './snapshots.ts'
import type { NotingDeps } from './deps.ts'
import { write } from './write.ts'

/** Notes and tasks of an account. */
export function createHubspotNotes(deps: NotingDeps, known: (entity: string) => HubspotEntity): NoteWriter {
  return {
    perWrite: writeLimit,
    findByMarker: async (entity, wanted) => findByMarker(deps, known(entity), wanted),
    write: async (entity, drafts) => write(deps, known(entity), drafts),
    snapshots: async (entity, written) => snapshots(deps, known(entity), written),
    remove: async (entity, written) => remove(deps, known(entity), written),
    async check(entity) {
      const needed = [...noteScopes, `crm.objects.${known(entity)}.read`, ownerScope]
      const granted = await grantedScopes(deps.api, deps.accessToken)
      const missing = granted === undefined ? [] : needed.filter((scope) => !granted.includes(scope))
      if (missing.length === 0) return []
      return [
        {
          code: 'hubspot_missing_scopes',
          message: `notes and tasks of ${entity} need ${missing.join(', ')}`,
          todo: 'Add them to the scopes of the app, and install or rotate again.',
        },
      ]
    },
  }
}
