import { sql, type Selectable } from 'kysely'
import type { KnownJob, Verdict } from '../../domain/champions/moved.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'
import type { ChampionTables, Joined, NewEmployer } from '../database/tables/champion-tables.ts'

export type { NewEmployer } from '../database/tables/champion-tables.ts'

/** The last check of a champion. */
export interface CheckedChampion {
  recordId: string
  profileUrl: string
  checkedAt: Date
  lookupKey: LookupKey
  verdict: Verdict
  /** The job against which the next answer is held. */
  known: KnownJob
  employer: NewEmployer | null
  /** The time of the answer that showed first that the job has ended. */
  leftAt: Date | null
}

/** A champion of a watch, as the ledger has it. */
export interface KnownChampion extends CheckedChampion, WatchedObject {
  /** The record at the new employer. Null: there is none, or nobody has looked. */
  joined: Joined | null
}

export interface WatchedObject {
  watch: string
  connector: string
  entity: string
}

const pageSize = 1_000

/** Returns the last checks of these records, by record. */
export async function lastChampionChecks(
  db: Database,
  { watch, connector, entity }: WatchedObject,
  recordIds: readonly string[],
): Promise<Map<string, CheckedChampion>> {
  const found = new Map<string, CheckedChampion>()
  for (let at = 0; at < recordIds.length; at += pageSize) {
    const rows = await db
      .selectFrom('champions')
      .selectAll()
      .where('watch', '=', watch)
      .where('connector', '=', connector)
      .where('entity', '=', entity)
      .where('record_id', 'in', recordIds.slice(at, at + pageSize))
      .execute()
    for (const row of rows) found.set(row.record_id, championOf(row))
  }
  return found
}

/** Stores a check. An older answer never takes the place of a newer one, and another person or employer has no record yet. */
export async function saveChampion(
  db: Database,
  { watch, connector, entity }: WatchedObject,
  checked: CheckedChampion,
): Promise<void> {
  const { recordId, profileUrl, checkedAt, lookupKey, verdict, known, employer, leftAt } = checked
  await sql`
    insert into champions (watch, connector, entity, record_id, profile_url, checked_at, lookup_key, verdict, known, employer, left_at)
    values (${watch}, ${connector}, ${entity}, ${recordId}, ${profileUrl}, ${checkedAt}::timestamptz, ${lookupKey}, ${verdict},
      ${storableJson(known)}::jsonb, ${employer === null ? null : storableJson(employer)}::jsonb, ${leftAt}::timestamptz)
    on conflict (watch, connector, entity, record_id) do update set profile_url = excluded.profile_url,
      checked_at = excluded.checked_at, lookup_key = excluded.lookup_key, verdict = excluded.verdict, known = excluded.known,
      employer = excluded.employer, left_at = excluded.left_at,
      joined = case when champions.profile_url = excluded.profile_url and champions.employer = excluded.employer
        then champions.joined end
    where champions.checked_at <= excluded.checked_at`.execute(db)
}

/** Returns the champions of a watch, the latest leavers first, then by record. */
export async function championsOf(db: Database, watch: string): Promise<KnownChampion[]> {
  const rows = await db
    .selectFrom('champions')
    .selectAll()
    .where('watch', '=', watch)
    .orderBy(sql`left_at desc nulls last`)
    .orderBy('connector')
    .orderBy('entity')
    .orderBy('record_id')
    .execute()
  return rows.map((row) => ({
    ...championOf(row),
    watch,
    connector: row.connector,
    entity: row.entity,
    joined: row.joined === null || row.joined.state === 'unclear' ? null : row.joined,
  }))
}

/** Ends the freshness of answers that are as old as a watch allows, so that they are bought again. Returns how many these are. */
export async function endFreshness(
  db: Database,
  keys: readonly LookupKey[],
  { answeredUntil, at }: { answeredUntil: Date; at: Date },
): Promise<number> {
  if (keys.length === 0) return 0
  const { numUpdatedRows } = await db
    .updateTable('lookups')
    .set({ fresh_until: at })
    .where('key', 'in', [...keys])
    .where('state', '=', 'answered')
    .where('answered_at', '<=', answeredUntil)
    .where('fresh_until', '>', at)
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/** Returns when an answer in the ledger was given. */
export async function answeredAt(db: Database, key: LookupKey): Promise<Date | undefined> {
  const row = await db
    .selectFrom('lookups')
    .select('answered_at')
    .where('key', '=', key)
    .where('state', '=', 'answered')
    .executeTakeFirst()
  return row?.answered_at ?? undefined
}

/** Erases a person from what is watched. An employer that is forgotten goes from the moves to it. Returns the number of rows. */
export async function eraseChampions(
  tx: Database,
  { identities, taskIds }: { identities: readonly RecordIdentity[]; taskIds: readonly bigint[] },
): Promise<number> {
  const given = storableJson(identities)
  const { rows } = await sql`
    delete from champions where profile_url in (
        select value from jsonb_to_recordset(${given}::jsonb) as own (kind text, value text) where kind = 'profile')
      or (connector, entity, record_id) in (
        select runs.connector, runs.entity, tasks.record_id from tasks join runs on runs.id = tasks.run_id
        where tasks.id = any(${taskIds.map(String)}::bigint[])
        union
        select connector, entity, record_id from record_identities
          join jsonb_to_recordset(${given}::jsonb) as wanted (kind text, value text) using (kind, value))
    returning 1`.execute(tx)
  const { rows: moved } = await sql`
    update champions set employer = null, joined = case when joined ->> 'state' <> 'unclear' then joined end
    where employer ->> 'profileUrl' in (
        select value from jsonb_to_recordset(${given}::jsonb) as own (kind text, value text) where kind = 'profile')
      or employer ->> 'domain' in (
        select value from jsonb_to_recordset(${given}::jsonb) as own (kind text, value text) where kind = 'domain')
    returning 1`.execute(tx)
  return rows.length + moved.length
}

function championOf(row: Selectable<ChampionTables['champions']>): CheckedChampion {
  return {
    recordId: row.record_id,
    profileUrl: row.profile_url,
    checkedAt: row.checked_at,
    lookupKey: row.lookup_key,
    verdict: row.verdict,
    known: row.known,
    employer: row.employer,
    leftAt: row.left_at,
  }
}
