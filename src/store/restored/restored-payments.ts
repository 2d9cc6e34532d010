import { sql } from 'kysely'
import { formatUsd } from '../../domain/money.ts'
import type { ChargeState } from '../../domain/payment.ts'
import type { Database } from '../database/database.ts'
import { unclaimedPrefix } from './claim-payments.ts'
import { lastRestore, pendingRestore } from './restore-state.ts'

/** A restore, and the payments that it had to find on the chain. */
export interface RestoredReport {
  backupAt: string
  restoredAt: string
  /** True while the chain has not been read: nothing is bought. */
  isPending: boolean
  /** Payments of after the backup, from the chain, oldest first. */
  payments: RestoredPayment[]
}

export interface RestoredPayment {
  transaction: string | null
  amount: string
  at: string
  /** settled: its answer was had again. in_doubt: it is being asked for. lost: the service does not keep it, or no lookup has claimed it. */
  state: ChargeState
  /** Null: no lookup has claimed it. */
  lookup: string | null
}

/** Returns undefined for a ledger that was never restored. */
export async function restoredReport(db: Database): Promise<RestoredReport | undefined> {
  const restore = await lastRestore(db)
  if (!restore) return undefined
  const { rows } = await sql<{
    transaction: string | null
    amount: bigint
    at: Date
    state: ChargeState
    lookup: string | null
  }>`
    select transaction, amount_atomic as amount, created_at as at, state,
      case when starts_with(lookup_key, ${unclaimedPrefix}) then null else lookup_key end as lookup
    from charges where restored_at is not null order by created_at, id`.execute(db)
  return {
    backupAt: restore.backupAt.toISOString(),
    restoredAt: restore.restoredAt.toISOString(),
    isPending: (await pendingRestore(db)) !== undefined,
    payments: rows.map((row) => ({ ...row, amount: formatUsd(row.amount), at: row.at.toISOString() })),
  }
}
