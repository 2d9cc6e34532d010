import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'

export const spendGroups = ['day', 'run', 'connector', 'endpoint', 'field'] as const
export type SpendGroup = (typeof spendGroups)[number]

export interface SpendRow {
  name: string
  currency: Currency
  charges: number
  settledAtomic: Atomic
  inDoubtAtomic: Atomic
  lostAtomic: Atomic
}

export interface RefusalRow {
  rule: string
  message: string
  count: number
  lastAt: Date
}

const columns: Record<Exclude<SpendGroup, 'field'>, ReturnType<typeof sql>> = {
  day: sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`,
  run: sql`run_id`,
  connector: sql`connector`,
  endpoint: sql`endpoint`,
}

/** All charges of the ledger, grouped. What was declined or expired cost nothing and is left out of the sums. */
export async function spendBy(db: Database, group: SpendGroup): Promise<SpendRow[]> {
  if (group === 'field') return spendByField(db)
  const { rows } = await sql<SpendRow>`
    select ${columns[group]} as name, currency, count(*) filter (where state in ('settled', 'lost'))::int as charges,
      coalesce(sum(amount_atomic) filter (where state = 'settled'), 0)::bigint as "settledAtomic",
      coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as "inDoubtAtomic",
      coalesce(sum(amount_atomic) filter (where state = 'lost'), 0)::bigint as "lostAtomic"
    from charges group by 1, 2 order by 1, 2`.execute(db)
  return rows
}

/** What filled nothing has this name among the fields. */
const noField = '(nothing filled)'

/**
 * Each charge's amount in equal parts over the fields that its lookup filled, in however many records of its run; what
 * does not divide goes to the first fields by name, so that the parts add up to the cent.
 */
async function spendByField(db: Database): Promise<SpendRow[]> {
  const { rows } = await sql<SpendRow>`
    with filled as (
      select distinct paid.id, paid.lookup_key, field
      from charge_shares as paid
      join tasks on tasks.run_id = paid.run_id and tasks.status = 'written' and paid.lookup_key = any(tasks.steps)
      cross join lateral jsonb_object_keys(tasks.patch) as field
      where paid.state = 'settled'
    ), parts as (
      select paid.id, currency, coalesce(field, ${noField}) as name, state, amount_atomic,
        count(*) over (partition by paid.id, paid.lookup_key) as share,
        row_number() over (partition by paid.id, paid.lookup_key order by field) as place
      from charge_shares as paid left join filled on filled.id = paid.id and filled.lookup_key = paid.lookup_key
    )
    select name, currency, count(*) filter (where state in ('settled', 'lost'))::int as charges,
      coalesce(sum(part) filter (where state = 'settled'), 0)::bigint as "settledAtomic",
      coalesce(sum(part) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as "inDoubtAtomic",
      coalesce(sum(part) filter (where state = 'lost'), 0)::bigint as "lostAtomic"
    from (select *, amount_atomic / share + case when place <= amount_atomic % share then 1 else 0 end as part from parts) as split
    group by 1, 2 order by 1, 2`.execute(db)
  return rows
}

/** Challenges that the spending policy refused: nothing was signed for them. */
export async function refusals(db: Database): Promise<RefusalRow[]> {
  const { rows } = await sql<RefusalRow>`
    select rule, min(message) as message, count(*)::int as count, max(refused_at) as "lastAt"
    from refusals group by rule order by count desc, rule`.execute(db)
  return rows
}
