import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identity } from '../../domain/record.ts'
import type { AnsweredCheck, ObservedPosition } from '../../domain/signals/observed.ts'
import type { SignalType } from '../../domain/signals/signal.ts'
import type { Database } from '../database/database.ts'

/** An account as it is kept, beside its signals and scores. */
export interface Observations {
  accountId: bigint
  connector: string
  entity: string
  recordId: string
  identity: Identity
  position: ObservedPosition
  /** The last answered check of each type in the pipeline. */
  checks: Partial<Record<SignalType, AnsweredCheck>>
  /** The lookups of these checks, oldest first. */
  lookups: LookupKey[]
  /** The first day (UTC) with a score in the pipeline. Undefined for an account that is new there. */
  firstDay: string | undefined
}

/** Returns what is kept of accounts in a pipeline, in the order of their ids. */
export async function observationsOf(
  db: Database,
  pipeline: string,
  accountIds: readonly bigint[],
): Promise<Observations[]> {
  if (accountIds.length === 0) return []
  const ids = accountIds.map(String)
  const accounts = await db
    .selectFrom('signal_accounts')
    .selectAll()
    .where('id', '=', sql<bigint>`any(${ids}::bigint[])`)
    .orderBy('id')
    .execute()
  const checks = await db
    .selectFrom('signal_checks')
    .select(['account_id', 'type', 'checked_at', 'is_matched', 'lookup_key'])
    .where('pipeline', '=', pipeline)
    .where('account_id', '=', sql<bigint>`any(${ids}::bigint[])`)
    .orderBy('checked_at')
    .orderBy('type')
    .execute()
  const { rows: days } = await sql<{ account_id: bigint; day: string }>`
    select account_id, to_char(min(day), 'YYYY-MM-DD') as day from signal_scores
    where pipeline = ${pipeline} and account_id = any(${ids}::bigint[]) group by account_id`.execute(db)
  const checksOf = Map.groupBy(checks, ({ account_id: account }) => String(account))
  const dayOf = new Map(days.map(({ account_id: account, day }) => [String(account), day]))
  return accounts.map((account) => {
    const own = checksOf.get(String(account.id)) ?? []
    return {
      accountId: BigInt(account.id),
      connector: account.connector,
      entity: account.entity,
      recordId: account.record_id,
      identity: account.identity,
      position: { stage: account.stage, direction: account.direction, markets: account.markets ?? [] },
      checks: Object.fromEntries(
        own.map((check) => [check.type, { checkedAt: check.checked_at, isMatched: check.is_matched }]),
      ),
      lookups: [...new Set(own.map(({ lookup_key: key }) => key as LookupKey))],
      firstDay: dayOf.get(String(account.id)),
    }
  })
}
