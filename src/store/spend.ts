import { sql } from 'kysely'
import type { Atomic } from '../domain/money.ts'
import type { Database } from './database.ts'

export const spendGroups = ['day', 'run', 'connector', 'endpoint'] as const
export type SpendGroup = (typeof spendGroups)[number]

export interface SpendRow {
  name: string
  charges: number
  settledAtomic: Atomic
  inDoubtAtomic: Atomic
  lostAtomic: Atomic
}

const columns: Record<SpendGroup, ReturnType<typeof sql>> = {
  day: sql`to_char(created_at at time zone 'UTC', 'YYYY-MM-DD')`,
  run: sql`run_id`,
  connector: sql`connector`,
  endpoint: sql`endpoint`,
}

/** All charges of the ledger, grouped. What was declined or expired cost nothing and is left out of the sums. */
export async function spendBy(db: Database, group: SpendGroup): Promise<SpendRow[]> {
  const { rows } = await sql<SpendRow>`
    select ${columns[group]} as name, count(*) filter (where state in ('settled', 'lost'))::int as charges,
      coalesce(sum(amount_atomic) filter (where state = 'settled'), 0)::bigint as "settledAtomic",
      coalesce(sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt')), 0)::bigint as "inDoubtAtomic",
      coalesce(sum(amount_atomic) filter (where state = 'lost'), 0)::bigint as "lostAtomic"
    from charges group by 1 order by 1`.execute(db)
  return rows
}
