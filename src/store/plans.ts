import { sql } from 'kysely'
import type { Database } from './database.ts'

/** What a planned run would ask for, and how much of it the ledger already holds. */
export interface PlanFigures {
  unique: number
  cached: number
  duplicates: number
}

/** Counts a planned run's lookups: `cached` are those with a fresh answer, which cost nothing. */
export async function planFigures(db: Database, runId: string, now: Date): Promise<PlanFigures> {
  const { rows } = await sql<PlanFigures>`
    select count(distinct tasks.lookup_key)::int as unique,
      (count(distinct tasks.lookup_key) filter (
        where lookups.state = 'answered' and lookups.fresh_until > ${now}))::int as cached,
      count(duplicate_of)::int as duplicates
    from tasks left join lookups on lookups.key = tasks.lookup_key
    where tasks.run_id = ${runId} and tasks.lookup_key is not null`.execute(db)
  return rows[0] ?? { unique: 0, cached: 0, duplicates: 0 }
}
