import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** A record that is about a subject: its name for `paydirt history`, and its file where it is a row of one. */
export interface SubjectRecord {
  connector: string
  entity: string
  id: string
  file: string | null
  runs: number
}

/** Returns the records that these tasks are about, each once. */
export async function recordsOfTasks(db: Database, taskIds: readonly bigint[]): Promise<SubjectRecord[]> {
  if (taskIds.length === 0) return []
  const { rows } = await sql<SubjectRecord>`
    select connector, entity, record_id as id, source->>'file' as file, count(distinct run_id)::int as runs
    from tasks join runs on runs.id = tasks.run_id
    where tasks.id = any(${taskIds.map(String)}::bigint[])
    group by 1, 2, 3, 4 order by 1, 2, 4, 3`.execute(db)
  return rows
}
