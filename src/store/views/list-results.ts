import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { CreatedState } from '../database/tables/states.ts'
import type { Database } from '../database/database.ts'

/** The rows of a list that a run has ended, by what became of them. Companies that it made for people are not among them. */
export interface MadeCounts {
  created: number
  exists: number
  ambiguous: number
}

/** Returns the counts of those of these runs that made records of a list. What was taken back since was made all the same. */
export async function madeCounts(db: Database, runs: readonly string[]): Promise<Map<string, MadeCounts>> {
  if (runs.length === 0) return new Map()
  const { rows } = await sql<MadeCounts & { run: string }>`
    select run_id as run,
      (count(*) filter (where made.state in ('created', 'archived')))::int as created,
      (count(*) filter (where made.state = 'exists'))::int as exists,
      (count(*) filter (where made.state = 'left' and made.reason like 'ambiguous:%'))::int as ambiguous
    from created_records as made join runs on runs.id = made.run_id and runs.entity = made.entity
    where run_id = any(${[...runs]}::text[]) group by run_id`.execute(db)
  return new Map(rows.map(({ run, ...counts }) => [run, counts]))
}

/** The place in a list of which a record was made. */
export interface RecordOrigin {
  run: string
  list: string
  state: Extract<CreatedState, 'created' | 'archived'>
  /** Null: the page is not known any more. */
  page: number | null
  /** The lookup that bought the page, for all of its rows. */
  lookup: string | null
  amountAtomic: Atomic
  currency: 'USD' | 'credit'
  at: Date | null
}

/** Returns where these ids of one record were made, the latest first. Nothing for a record that Paydirt did not make. */
export async function originsOf(
  db: Database,
  { connector, entities, ids }: { connector: string; entities: readonly string[]; ids: readonly string[] },
): Promise<RecordOrigin[]> {
  const { rows } = await sql<RecordOrigin>`
    select run_id as run, list, state, page, lookup_key as lookup, coalesce(paid.amount, 0)::bigint as "amountAtomic",
      coalesce(paid.currency, 'USD') as currency, ended_at as at
    from created_records as made left join lateral (
      select sum(amount_atomic) as amount, max(currency) as currency from charge_shares as share
      where share.lookup_key = made.lookup_key and share.state = 'settled'
    ) as paid on true
    where connector = ${connector} and entity = any(${[...entities]}::text[])
      and record_id = any(${[...ids]}::text[]) and made.state in ('created', 'archived')
    order by made.id desc`.execute(db)
  return rows
}
