import { sql } from 'kysely'
import { formatUsd } from '../../domain/money.ts'
import type { Currency } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'

/** Sums over all charges of a currency, as decimals. */
export interface PaidSums {
  currency: Currency
  settled: string
  lost: string
  inDoubt: string
}

export async function paidSums(db: Database): Promise<PaidSums[]> {
  const { rows } = await sql<{ currency: Currency; settled: bigint; lost: bigint; in_doubt: bigint }>`
    select currency, coalesce(sum(amount_atomic) filter (where state = 'settled'), 0)::bigint as settled,
      coalesce(sum(amount_atomic) filter (where state = 'lost'), 0)::bigint as lost,
      coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as in_doubt
    from charges group by currency order by currency`.execute(db)
  return rows.map(({ currency, settled, lost, in_doubt: inDoubt }) => ({
    currency,
    settled: formatUsd(settled),
    lost: formatUsd(lost),
    inDoubt: formatUsd(inDoubt),
  }))
}
