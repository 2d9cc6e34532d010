import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'
import { filledFields, isOfFile } from './filled-fields.ts'

export type SpendGroup = 'day' | 'run' | 'connector' | 'endpoint' | 'field' | 'list'

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

/** The name, among the lists, of charges that were made for none. */
const noList = '(no list)'

const columns: Record<Exclude<SpendGroup, 'field'>, ReturnType<typeof sql>> = {
  day: sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`,
  run: sql`run_id`,
  connector: sql`connector`,
  endpoint: sql`endpoint`,
  list: sql`coalesce((select source ->> 'list' from runs where runs.id = charges.run_id), ${noList})`,
}

/** Returns the sums of all charges, grouped. Declined and expired charges cost nothing and do not count. */
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

/** The name, among the fields, of charges whose lookup filled no field. */
const noField = '(nothing filled)'

/**
 * Shares each charge's amount equally among the fields that its lookup filled in its run. The remainder goes to the first
 * fields by name, so that the shares add up to the charge.
 */
async function spendByField(db: Database): Promise<SpendRow[]> {
  const { rows } = await sql<SpendRow>`
    with filled as (
      select distinct paid.id, paid.lookup_key, field
      from charge_shares as paid
      join runs on runs.id = paid.run_id
      join tasks on tasks.run_id = paid.run_id and tasks.status = 'written' and paid.lookup_key = any(tasks.steps)
      cross join ${filledFields(isOfFile)}
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

/** Returns the challenges that the spending policy refused, those with one text together. Nothing was signed for them. */
export async function refusals(db: Database): Promise<RefusalRow[]> {
  const { rows } = await sql<RefusalRow>`
    select rule, message, count(*)::int as count, max(refused_at) as "lastAt"
    from refusals group by rule, message order by count desc, rule, "lastAt" desc`.execute(db)
  return rows
}
