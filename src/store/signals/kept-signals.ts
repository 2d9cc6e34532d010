import type { SeenSignal } from '../../domain/signals/score.ts'
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** An account that a pipeline watches. */
export interface KeptAccount {
  id: bigint
  connector: string
  entity: string
  recordId: string
  name: string | null
  stage: string | null
}

/** Returns the signals of accounts, by account. */
export async function signalsOf(
  db: Database,
  accountIds: readonly bigint[],
): Promise<Map<bigint, SeenSignal[]>> {
  if (accountIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('signals')
    .selectAll()
    .where('account_id', '=', sql<bigint>`any(${accountIds.map(String)}::bigint[])`)
    .execute()
  const byAccount = new Map<bigint, SeenSignal[]>()
  for (const row of rows) {
    const signals = byAccount.get(row.account_id) ?? []
    signals.push({
      type: row.type,
      key: row.key,
      title: row.title,
      link: row.link,
      place: row.place,
      strength: row.strength,
      about: row.about,
      happenedAt: row.happened_at,
      endedAt: row.ended_at,
      firstSeenAt: row.first_seen_at,
    })
    byAccount.set(row.account_id, signals)
  }
  return byAccount
}

/** Returns accounts by id. */
export async function accountsById(db: Database, ids: readonly bigint[]): Promise<Map<bigint, KeptAccount>> {
  if (ids.length === 0) return new Map()
  const rows = await accounts(db)
    .where('id', '=', sql<bigint>`any(${ids.map(String)}::bigint[])`)
    .execute()
  return new Map(rows.map((row) => [row.id, row]))
}

/** Returns the accounts of one of these entities that have this id of a record. */
export async function accountsNamed(
  db: Database,
  { connector, entities, id }: { connector: string; entities: readonly string[]; id: string },
): Promise<KeptAccount[]> {
  return accounts(db)
    .where('connector', '=', connector)
    .where('entity', 'in', [...entities])
    .where('record_id', '=', id)
    .execute()
}

/** Returns the accounts of a source, the last seen first: those of whose names one may have been meant. */
export async function someAccounts(db: Database, connector: string, limit: number): Promise<KeptAccount[]> {
  return accounts(db)
    .where('connector', '=', connector)
    .orderBy('seen_at', 'desc')
    .orderBy('id')
    .limit(limit)
    .execute()
}

function accounts(db: Database) {
  return db
    .selectFrom('signal_accounts')
    .select(['id', 'connector', 'entity', 'record_id as recordId', 'name', 'stage'])
}
