import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Database } from '../database/database.ts'

/** Returns what is committed in each of these scopes of a budget (pay/limits/budget.ts). A scope without a charge is left out. */
export async function committedIn(db: Database, scopes: readonly string[]): Promise<Map<string, Atomic>> {
  const { rows } = await sql<{ scope: string; committed: Atomic }>`
    select scope, committed_atomic as committed from budgets where scope = any(${[...scopes]}::text[])`.execute(
    db,
  )
  return new Map(rows.map(({ scope, committed }) => [scope, committed]))
}

/** Returns the unfinished run that a run like this planned one would continue. */
export async function runToContinue(db: Database, fingerprint: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from runs where fingerprint = ${fingerprint} and state in ('scanning', 'working', 'stopped', 'parked')`.execute(
    db,
  )
  return rows[0]?.id
}
