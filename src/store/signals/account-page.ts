import { sql } from 'kysely'
import type { SignalType } from '../../domain/signals/signal.ts'
import type { Database } from '../database/database.ts'

/** An account of a pipeline with its last score. */
export interface RankedAccount {
  id: bigint
  connector: string
  entity: string
  recordId: string
  name: string | null
  stage: string | null
  hundredths: number
}

/** Returns one page of the accounts that a pipeline watches, the highest score of its last day first, and their number. */
export async function rankedAccounts(
  db: Database,
  pipeline: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ accounts: RankedAccount[]; total: number }> {
  const { rows } = await sql<RankedAccount>`
    select account.id, account.connector, account.entity, account.record_id as "recordId", account.name, account.stage,
      scored.score::float8 as hundredths
    from signal_scores as scored join signal_accounts as account on account.id = scored.account_id
    where scored.pipeline = ${pipeline}
      and scored.day = (select max(day) from signal_scores where pipeline = ${pipeline})
    order by scored.score desc, account.id limit ${limit} offset ${offset}`.execute(db)
  const { rows: counts } = await sql<{ total: number }>`
    select count(*)::int as total from signal_scores where pipeline = ${pipeline}
      and day = (select max(day) from signal_scores where pipeline = ${pipeline})`.execute(db)
  return { accounts: rows, total: counts[0]?.total ?? 0 }
}

/** The last check of a type of an account in a pipeline. */
export interface AccountCheck {
  pipeline: string
  type: SignalType
  checkedAt: Date
  isMatched: boolean
  reason: string | null
}

/** Returns the last checks of an account, by pipeline and type. */
export async function checksOfAccount(db: Database, accountId: bigint): Promise<AccountCheck[]> {
  const rows = await db
    .selectFrom('signal_checks')
    .select(['pipeline', 'type', 'checked_at as checkedAt', 'is_matched as isMatched', 'reason'])
    .where('account_id', '=', accountId)
    .orderBy('pipeline')
    .orderBy('type')
    .execute()
  return rows.map((row) => ({ ...row, type: row.type as SignalType }))
}

/** The last that was observed of an account as a whole. */
export interface AccountState {
  direction: string | null
  markets: readonly string[]
  serviceId: string | null
}

export async function accountState(db: Database, accountId: bigint): Promise<AccountState> {
  const row = await db
    .selectFrom('signal_accounts')
    .select(['direction', 'markets', 'service_id as serviceId'])
    .where('id', '=', accountId)
    .executeTakeFirst()
  const { direction = null, markets, serviceId = null } = row ?? {}
  return { direction, markets: Array.isArray(markets) ? markets.map(String) : [], serviceId }
}
