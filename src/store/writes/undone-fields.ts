import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** The part of a run that was undone. */
export interface Undone {
  /** The fields that have their old value again. */
  fields: number
  /** All fields that the run wrote. */
  of: number
  /** The time at which the last of them was put back. */
  at: Date
}

/** Returns, by run, what was undone of it; nothing for a run of which all stands. */
export async function undoneFields(db: Database, runs: readonly string[]): Promise<Map<string, Undone>> {
  if (runs.length === 0) return new Map()
  const { rows } = await sql<Undone & { run: string }>`
    with undone as (
      select run_id, count(*)::int as fields, max(undone_at) as at from field_writes
      where state = 'undone' and run_id = any(${[...runs]}::text[]) group by run_id
    )
    select run_id as run, fields, at, (
      select count(*)::int from field_writes as written
      where written.run_id = undone.run_id and written.state in ('written', 'undone', 'superseded')
    ) as "of" from undone`.execute(db)
  return new Map(rows.map(({ run, fields, of, at }) => [run, { fields, of, at }]))
}
