import { sql } from 'kysely'
import type { SeenAnswer } from '../../domain/forecast/experience.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

/** Charges and tasks that are read at most: the latest ones say best what comes next. */
const latestCharges = 4_000
const latestTasks = 4_000
const answersPerStep = 400

/** Returns the latest answers that were paid for, the newest first. A batch counts with each of its lookups. */
export async function seenAnswers(db: Database, operations: readonly Operation[]): Promise<SeenAnswer[]> {
  const { rows } = await sql<SeenAnswer>`
    with recent as (
      select id, lookup_key, created_at from charges
      where state = 'settled' and operation = any(${[...operations]}::text[])
      order by created_at desc limit ${latestCharges}
    ), asked as (
      select coalesce(member.lookup_key, recent.lookup_key) as key, max(recent.created_at) as at
      from recent left join bundle_members as member on member.charge_id = recent.id group by 1
    ), placed as (
      select key, at, row_number() over (
        partition by split_part(key, '|', 1), case when key like 'contact.redeem|%' then substring(key from '[^|]*$') end
        order by at desc) as place
      from asked
    )
    select lookups.key, outcome, answer as data from placed join lookups on lookups.key = placed.key
    where place <= ${answersPerStep} and lookups.state = 'answered' and outcome is not null
    order by at desc, lookups.key`.execute(db)
  return rows
}

/** Returns the lookups of the latest tasks that had more than one, each in the order in which they were made. */
export async function seenChains(db: Database): Promise<LookupKey[][]> {
  const { rows } = await sql<{ steps: LookupKey[] }>`
    with recent as (select steps from tasks order by id desc limit ${latestTasks})
    select steps from recent where cardinality(steps) > 1`.execute(db)
  return rows.map(({ steps }) => steps)
}
