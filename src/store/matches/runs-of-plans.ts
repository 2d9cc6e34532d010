import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/**
 * Returns the runs that wrote into a CRM for these plans, in the order of the plans: of each first the run that updated records, then
 * the one that made them. Lookups for rows have runs of their own, which wrote nothing.
 */
export async function runsOfPlans(db: Database, plans: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select runs.id from unnest(${[...plans]}::text[]) with ordinality as given (plan, place)
      join runs on runs.fingerprint in ('list updates|' || given.plan, 'plan|' || given.plan)
    where runs.state <> 'planned'
    order by given.place, runs.fingerprint, runs.started_at`.execute(db)
  return rows.map(({ id }) => id)
}
