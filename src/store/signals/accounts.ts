import { sql } from 'kysely'
import { furtherIdentifiers, type Identity } from '../../domain/record.ts'
import type { SignalType } from '../../domain/signals/signal.ts'
import type { LastCheck } from '../../domain/signals/due.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'

/** An account as its CRM or its list names it. */
export interface GivenAccount {
  connector: string
  entity: string
  recordId: string
  name: string | null
  identity: Identity
}

/** An account that is watched. */
export interface SignalAccount extends GivenAccount {
  id: bigint
  /** The id of the company at the service. Null: no answer was matched to it yet. */
  serviceId: string | null
}

/** The parts of an identity that name another company where they change. */
const naming = [
  'profileUrl',
  'domain',
  ...furtherIdentifiers.map(({ field }) => field),
] as const satisfies readonly (keyof Identity)[]

/**
 * Adds accounts, or renews name and identity of those that are there. Returns them in the same order. One that names another company than
 * before begins anew: what was observed of the one before is not its own.
 */
export async function holdAccounts(
  db: Database,
  accounts: readonly GivenAccount[],
  at: Date,
): Promise<SignalAccount[]> {
  if (accounts.length === 0) return []
  return db.transaction().execute(async (tx) => {
    await dropChanged(tx, accounts)
    return keepAccounts(tx, accounts, at)
  })
}

async function dropChanged(db: Database, accounts: readonly GivenAccount[]): Promise<void> {
  const given = accounts.map(({ connector, entity, recordId, identity }) => ({
    connector,
    entity,
    record_id: recordId,
    named: Object.fromEntries(
      naming.flatMap((name) => (identity[name] === undefined ? [] : [[name, identity[name]]])),
    ),
  }))
  await sql`
    delete from signal_accounts using jsonb_to_recordset(${storableJson(given)}::jsonb)
      as given (connector text, entity text, record_id text, named jsonb)
    where signal_accounts.connector = given.connector and signal_accounts.entity = given.entity
      and signal_accounts.record_id = given.record_id
      and (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(signal_accounts.identity)
        where key = any(${[...naming]}::text[])) <> given.named`.execute(db)
}

async function keepAccounts(
  db: Database,
  accounts: readonly GivenAccount[],
  at: Date,
): Promise<SignalAccount[]> {
  const { rows } = await sql<{
    connector: string
    entity: string
    record_id: string
    id: bigint
    service_id: string | null
  }>`
    insert into signal_accounts (connector, entity, record_id, name, identity, seen_at)
    select connector, entity, record_id, name, identity, ${at}::timestamptz
    from jsonb_to_recordset(${storableJson(
      accounts.map(({ recordId, ...rest }) => ({ ...rest, record_id: recordId })),
    )}::jsonb) as given (connector text, entity text, record_id text, name text, identity jsonb)
    order by connector, entity, record_id
    on conflict (connector, entity, record_id) do update set name = excluded.name, seen_at = excluded.seen_at,
      identity = excluded.identity
    returning connector, entity, record_id, id, service_id`.execute(db)
  const found = new Map(rows.map((row) => [keyOf(row.connector, row.entity, row.record_id), row]))
  return accounts.map((account) => {
    const row = found.get(keyOf(account.connector, account.entity, account.recordId))!
    return { ...account, id: BigInt(row.id), serviceId: row.service_id }
  })
}

/** Returns the last checks of accounts in a pipeline, by account. */
export async function lastChecks(
  db: Database,
  pipeline: string,
  accounts: readonly bigint[],
): Promise<Map<bigint, LastCheck[]>> {
  const rows = await db
    .selectFrom('signal_checks')
    .select([
      'account_id',
      'type',
      'checked_at as checkedAt',
      'whole_at as wholeAt',
      'is_matched as isMatched',
    ])
    .where('pipeline', '=', pipeline)
    .where('account_id', '=', sql<bigint>`any(${accounts.map(String)}::bigint[])`)
    .execute()
  const checks = Map.groupBy(rows, (row) => BigInt(row.account_id))
  return new Map(
    [...checks].map(([id, each]) => [
      id,
      each.map(({ type, ...check }) => ({ ...check, type: type as SignalType })),
    ]),
  )
}

/**
 * Returns those of accounts whose last answer about jobs or market entries was a whole one that has ended what went on, so that nothing
 * does any more. So it would look, too, if the service had given the id of the company up.
 */
export async function endedWhole(
  db: Database,
  pipeline: string,
  ids: readonly bigint[],
): Promise<Set<bigint>> {
  if (ids.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select given.id::text from unnest(${ids.map(String)}::bigint[]) as given (id)
    where not exists (select from signals where account_id = given.id and type <> 'news' and ended_at is null)
      and exists (select from signal_checks as checks join signals using (account_id, type)
        where checks.pipeline = ${pipeline} and checks.account_id = given.id and type in ('job', 'expansion')
          and checks.checked_at = checks.whole_at and signals.ended_at = checks.whole_at)`.execute(db)
  return new Set(rows.map(({ id }) => BigInt(id)))
}

/**
 * Keeps the ids of companies at the service, as answers have told them; null for one that it does not know any more. The checks of an
 * account whose id is another one now are dropped, in one transaction with it: all of the new one is asked for as the first time.
 */
export async function nameAtService(
  db: Database,
  found: readonly { id: bigint; serviceId: string | null }[],
): Promise<void> {
  if (found.length === 0) return
  await sql`
    with given as (
      select * from jsonb_to_recordset(${storableJson(found.map(({ id, serviceId }) => ({ id: String(id), service_id: serviceId })))}::jsonb)
        as given (id bigint, service_id text)
    ), dropped as (
      delete from signal_checks using given, signal_accounts
      where signal_checks.account_id = given.id and signal_accounts.id = given.id
        and signal_accounts.service_id is not null and given.service_id <> signal_accounts.service_id
    )
    update signal_accounts set service_id = given.service_id from given
    where signal_accounts.id = given.id and signal_accounts.service_id is distinct from given.service_id`.execute(
    db,
  )
}

function keyOf(connector: string, entity: string, recordId: string): string {
  return JSON.stringify([connector, entity, recordId])
}
