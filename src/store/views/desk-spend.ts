import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'

export interface SpendDay {
  /** UTC, as `2026-11-20`. */
  day: string
  charges: number
  settledAtomic: Atomic
  inDoubtAtomic: Atomic
  lostAtomic: Atomic
}

/** Returns what was spent in USD on each UTC day from `from` to `to`, both included. Includes days without a charge. */
export async function spendDays(db: Database, from: Date, to: Date): Promise<SpendDay[]> {
  const { rows } = await sql<SpendDay>`
    with days as (
      select generate_series(${isoDay(from)}::date, ${isoDay(to)}::date, interval '1 day')::date as day
    ), paid as (
      select (created_at at time zone 'UTC')::date as day,
        (count(*) filter (where state in ('settled', 'lost')))::int as charges,
        sum(amount_atomic) filter (where state = 'settled') as settled,
        sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')) as in_doubt,
        sum(amount_atomic) filter (where state = 'lost') as lost
      from charges where currency = 'USD' and created_at >= ${isoDay(from)}::date::timestamp at time zone 'UTC'
      group by 1
    )
    select to_char(days.day, 'YYYY-MM-DD') as day, coalesce(charges, 0) as charges,
      coalesce(settled, 0)::bigint as "settledAtomic", coalesce(in_doubt, 0)::bigint as "inDoubtAtomic",
      coalesce(lost, 0)::bigint as "lostAtomic"
    from days left join paid on paid.day = days.day order by 1`.execute(db)
  return rows
}

export interface SpendTotals {
  currency: Currency
  settled: number
  settledAtomic: Atomic
  inDoubt: number
  inDoubtAtomic: Atomic
  lost: number
  lostAtomic: Atomic
}

/** Returns the totals of all time, by currency. */
export async function spendTotals(db: Database): Promise<SpendTotals[]> {
  const { rows } = await sql<SpendTotals>`
    select currency,
      (count(*) filter (where state = 'settled'))::int as settled,
      coalesce(sum(amount_atomic) filter (where state = 'settled'), 0)::bigint as "settledAtomic",
      (count(*) filter (where state in ('journaled', 'sent', 'in_doubt')))::int as "inDoubt",
      coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as "inDoubtAtomic",
      (count(*) filter (where state = 'lost'))::int as lost,
      coalesce(sum(amount_atomic) filter (where state = 'lost'), 0)::bigint as "lostAtomic"
    from charges group by currency order by currency desc`.execute(db)
  return rows
}

function isoDay(at: Date): string {
  return at.toISOString().slice(0, 10)
}
