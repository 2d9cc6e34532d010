import type { Database } from '../database/database.ts'
import { newRunRow, type NewRun } from '../runs/runs.ts'

/** Opens a run that has notes and tasks alone, so that an undo finds them: it is finished from its begin. */
export async function openNotesRun(db: Database, run: NewRun, at: Date): Promise<void> {
  await db
    .insertInto('runs')
    .values({ ...newRunRow(run, at), state: 'finished', records: 0, scanned_at: at, finished_at: at })
    .execute()
}
