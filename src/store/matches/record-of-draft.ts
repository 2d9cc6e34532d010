import type { Database } from '../database/database.ts'
import type { CreatedState } from '../database/tables/states.ts'

/** Returns the first record that a run was to make, with its state. Undefined: there is none. */
export async function recordOfDraft(
  db: Database,
  runId: string,
  entity: string,
): Promise<{ state: CreatedState; recordId: string | null; reason: string | null } | undefined> {
  return db
    .selectFrom('created_records')
    .select(['state', 'record_id as recordId', 'reason'])
    .where('run_id', '=', runId)
    .where('entity', '=', entity)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirst()
}
