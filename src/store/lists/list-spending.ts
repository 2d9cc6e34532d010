import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'

/** Returns the list that a run buys for; undefined for any other run. */
export async function listOfRun(db: Database, runId: string): Promise<string | undefined> {
  const { rows } = await sql<{ list: string | null }>`
    select source ->> 'list' as list from runs where id = ${runId}`.execute(db)
  return rows[0]?.list ?? undefined
}

/** Returns the lists for which something was committed in a month (`2026-11`), by name, in USD and in credits. */
export async function listsOfMonth(
  db: Database,
  month: string,
): Promise<Map<string, { usdAtomic: Atomic; creditsAtomic: Atomic }>> {
  const { rows } = await sql<{ name: string; usd: Atomic; credits: Atomic }>`
    select split_part(replace(scope, 'credits:', ''), ':', 2) as name,
      coalesce(sum(committed_atomic) filter (where scope like 'list:%'), 0)::bigint as usd,
      coalesce(sum(committed_atomic) filter (where scope like 'credits:list:%'), 0)::bigint as credits
    from budgets where scope like ${`list:%:${month}`} or scope like ${`credits:list:%:${month}`}
    group by 1 order by 1`.execute(db)
  return new Map(rows.map(({ name, usd, credits }) => [name, { usdAtomic: usd, creditsAtomic: credits }]))
}
