import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identity } from '../../domain/record.ts'
import type { AnsweredCheck, ObservedPosition } from '../../domain/signals/observed.ts'
import type { SignalType } from '../../domain/signals/signal.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'

/** An account as it is kept, beside its signals and scores. */
export interface Observations {
  accountId: bigint
  connector: string
  entity: string
  recordId: string
  identity: Identity
  /** False: the service was asked for the company, and does not know it. */
  isKnown: boolean
  position: ObservedPosition
  /** The last answered check of each type in the pipeline. */
  checks: Partial<Record<SignalType, AnsweredCheck>>
  /** The lookups of these checks, oldest first. */
  lookups: LookupKey[]
  /** The first day (UTC) with a score in the pipeline. Undefined for an account that is new there. */
  firstDay: string | undefined
}

/**
 * Returns the fields of records that hold a value which signals have written, by record. A value that something else has written since is
 * not among them.
 */
export async function fieldsWritten(
  db: Database,
  { connector, entity }: { connector: string; entity: string },
  recordIds: readonly string[],
): Promise<Map<string, string[]>> {
  if (recordIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('field_writes')
    .innerJoin('runs', 'runs.id', 'field_writes.run_id')
    .select(['field_writes.record_id as recordId', 'field_writes.field as field'])
    .distinct()
    .where('field_writes.connector', '=', connector)
    .where('field_writes.entity', '=', entity)
    .where(isOneOf('field_writes.record_id', recordIds))
    .where('field_writes.state', '=', 'written')
    .where('runs.trigger', '=', 'signals')
    .execute()
  const byRecord = Map.groupBy(rows, ({ recordId }) => recordId)
  return new Map([...byRecord].map(([id, each]) => [id, each.map(({ field }) => field)]))
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
      isKnown: account.service_id !== null || own.length === 0 || own.some((check) => check.is_matched),
      position: { stage: account.stage, direction: account.direction, markets: account.markets ?? [] },
      checks: Object.fromEntries(
        own.map((check) => [check.type, { checkedAt: check.checked_at, isMatched: check.is_matched }]),
      ),
      lookups: [...new Set(own.map(({ lookup_key: key }) => key as LookupKey))],
      firstDay: dayOf.get(String(account.id)),
    }
  })
}
