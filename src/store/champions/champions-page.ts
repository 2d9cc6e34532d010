import { sql } from 'kysely'
import type { KnownJob, Verdict } from '../../domain/champions/moved.ts'
import type { Database } from '../database/database.ts'
import type { NewEmployer } from '../database/tables/champion-tables.ts'

/** The people of a watch by the verdict of their last check. */
export interface ChampionCount {
  watch: string
  verdict: Verdict
  people: number
  lastCheckedAt: Date
}

export async function championCounts(db: Database): Promise<ChampionCount[]> {
  const rows = await db
    .selectFrom('champions')
    .select(({ fn }) => [
      'watch',
      'verdict',
      fn.countAll<bigint>().as('people'),
      fn.max('checked_at').as('lastCheckedAt'),
    ])
    .groupBy(['watch', 'verdict'])
    .orderBy('watch')
    .orderBy('verdict')
    .execute()
  return rows.map(({ people, ...row }) => ({ ...row, people: Number(people) }))
}

/** One person of a watch. The ledger keeps no name with a check: the record has it. */
export interface ChampionRow {
  connector: string
  entity: string
  recordId: string
  verdict: Verdict
  known: KnownJob
  employer: NewEmployer | null
  leftAt: Date | null
  checkedAt: Date
  /** The record at the new employer. Null: there is none. */
  joinedId: string | null
}

/** Returns one page of the people of a watch, those who left last first. */
export async function championsPage(
  db: Database,
  watch: string,
  { verdict, limit, offset }: { verdict: Verdict | undefined; limit: number; offset: number },
): Promise<ChampionRow[]> {
  let query = db
    .selectFrom('champions')
    .select([
      'connector',
      'entity',
      'record_id as recordId',
      'verdict',
      'known',
      'employer',
      'left_at as leftAt',
      'checked_at as checkedAt',
      sql<string | null>`joined ->> 'recordId'`.as('joinedId'),
    ])
    .where('watch', '=', watch)
  if (verdict !== undefined) query = query.where('verdict', '=', verdict)
  return query
    .orderBy(sql`left_at desc nulls last`)
    .orderBy('connector')
    .orderBy('entity')
    .orderBy('record_id')
    .limit(limit)
    .offset(offset)
    .execute()
}
