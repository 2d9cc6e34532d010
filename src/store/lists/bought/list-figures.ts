import { sql } from 'kysely'
import type { Atomic } from '../../../domain/money.ts'
import { firstCompanyPlace } from '../../../domain/lists/company-of-person.ts'
import { rowsOfLists } from '../../../domain/words.ts'
import type { Database } from '../../database/database.ts'

/** The results of the lists that runs worked on, and their cost. Companies made for people do not count. A credit counts as a cent. */
export interface ListFigures {
  list: string
  created: number
  existed: number
  ambiguous: number
  /** Paid for pages and for rows, with what was lost. */
  paidAtomic: Atomic
  /** The part of it that was bought for rows whose record was found to exist. */
  paidForExistingAtomic: Atomic
}

/** Returns the lists that runs worked on, by name. With a run come the others of its plan, which bought for its
 * rows, and the pages on which its rows stood. */
export async function listFigures(
  db: Database,
  scope: { runId: string } | { from: Date; to: Date },
): Promise<ListFigures[]> {
  const within =
    'runId' in scope
      ? sql`(id = ${scope.runId} or source ->> 'plan' = (select source ->> 'plan' from runs where id = ${scope.runId}))`
      : sql`started_at >= ${scope.from} and started_at < ${scope.to}`
  const { rows } = await sql<ListFigures>`
    with scoped as (
      select id, connector, source ->> 'list' as list, source ->> 'plan' as plan_id from runs
      where state <> 'planned' and source ->> 'list' is not null and ${within}
    ), made as (
      select list,
        count(*) filter (where state in ('created', 'archived'))::int as created,
        count(*) filter (where state = 'exists')::int as existed,
        count(*) filter (where state = 'left' and reason like 'ambiguous:%')::int as ambiguous
      from created_records where run_id in (select id from scoped) and ordinal < ${firstCompanyPlace} group by list
    ), bought as (
      select charges.id, scoped.list from charges join scoped on scoped.id = charges.run_id
      union
      select charges.id, made.list from created_records as made
        join charges on charges.lookup_key = made.lookup_key
      where made.run_id in (select id from scoped)
    ), paid as (
      select list, sum(case currency when 'credit' then amount_atomic / 100 else amount_atomic end) as paid
      from charges join bought using (id)
      where charges.state in ('settled', 'lost') group by list
    ), existing as (
      select distinct share.id, share.lookup_key, scoped.list, share.currency, share.amount_atomic
      from scoped join plans on plans.id = scoped.plan_id
        join created_records as made on made.run_id = plans.run_id and made.state = 'exists'
        join tasks on tasks.run_id = scoped.id and tasks.record_id = made.ordinal::text
        join charge_shares as share on share.run_id = scoped.id and share.state = 'settled'
          and share.lookup_key = any(tasks.steps)
      where scoped.connector = ${rowsOfLists}
    ), wasted as (
      select list, sum(case currency when 'credit' then amount_atomic / 100 else amount_atomic end) as paid
      from existing group by list
    )
    select names.list, coalesce(created, 0) as created, coalesce(existed, 0) as existed,
      coalesce(ambiguous, 0) as ambiguous, coalesce(paid.paid, 0)::bigint as "paidAtomic",
      coalesce(wasted.paid, 0)::bigint as "paidForExistingAtomic"
    from (select distinct list from scoped) as names left join made on made.list = names.list
      left join paid on paid.list = names.list left join wasted on wasted.list = names.list
    order by names.list`.execute(db)
  return rows
}
