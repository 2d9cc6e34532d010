import type { Database } from '../database/database.ts'
import type { OccurrenceState } from '../database/tables/states.ts'

/** The planned time, or the request of a person, that began a run or continued it last. */
export interface RunOccurrence {
  /** null: a person asked for it. */
  schedule: string | null
  state: OccurrenceState
  reason: string | null
}

/** Returns undefined for a run that a command began. */
export async function runOccurrence(db: Database, runId: string): Promise<RunOccurrence | undefined> {
  return db
    .selectFrom('schedule_turns')
    .select(['schedule', 'state', 'reason'])
    .where('run_id', '=', runId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}
