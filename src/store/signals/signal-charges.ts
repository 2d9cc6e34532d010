import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'

export interface SignalCharges {
  currency: Currency
  charges: number
  settledAtomic: Atomic
  inDoubtAtomic: Atomic
  lostAtomic: Atomic
}

/**
 * Returns the sums of the charges for a pipeline, by the name of its budget, on the days (UTC) after one, until a time. They are those that `paydirt spend` groups by
 * day: declined and expired charges cost nothing and do not count.
 */
export async function signalCharges(
  db: Database,
  budget: string,
  { sinceDay, at }: { sinceDay: string; at: Date },
): Promise<SignalCharges[]> {
  const { rows } = await sql<SignalCharges>`
    select currency, (count(*) filter (where state in ('settled', 'lost')))::int as charges,
      coalesce(sum(amount_atomic) filter (where state = 'settled'), 0)::bigint as "settledAtomic",
      coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as "inDoubtAtomic",
      coalesce(sum(amount_atomic) filter (where state = 'lost'), 0)::bigint as "lostAtomic"
    from charges
    where run_id in (select id from runs where source ->> 'list' = ${budget}) and created_at <= ${at}
      and created_at >= (${sinceDay}::date + 1)::timestamp at time zone 'UTC'
    group by currency order by currency`.execute(db)
  return rows
}
