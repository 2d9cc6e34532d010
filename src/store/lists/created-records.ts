import { sql } from 'kysely'
import type { Identity } from '../../domain/record.ts'
import type { MatchedRecord } from '../../domain/lists/matched-record.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import type { StoredSnapshot } from '../database/tables/identity-tables.ts'
import { storableJson } from '../database/parameters.ts'
import type { CreatedState } from '../database/tables/states.ts'

/** The run that makes records, with the list that it makes them from. */
export interface Making {
  runId: string
  list: string
  connector: string
  entity: string
  /** The records are companies that are made beside the people of the run: no task of it is about them. */
  isBeside?: boolean
}

export interface Draft {
  /** Its place in the plan. */
  ordinal: number
  /** Our own key in the record. */
  key: string
  identity: Identity
  /** Those that no other draft may have at the same time are among them. */
  identities: readonly RecordIdentity[]
  page: number | null
  lookupKey: string | null
  /** A person said that other records may have its domain: it is not reserved, where something else names the draft. */
  sharesDomain?: boolean
  /** Records of the same person at other employers. Its profile is not reserved: theirs may be. */
  besides?: readonly MatchedRecord[]
}

/** The draft that has one of the same identities. */
export interface Holder {
  runId: string
  list: string
  state: CreatedState
  recordId: string | null
  identities: readonly RecordIdentity[]
}

export type Ending = { ordinal: number; reason: string | null } & (
  | { state: 'created'; recordId: string; snapshot: StoredSnapshot | null }
  | { state: 'exists'; recordId: string | null }
  | { state: 'rejected' | 'left' }
)

export interface CreatedRecords {
  /** Returns the drafts of a run at these places of the plan. */
  states(runId: string, ordinals: readonly number[]): Promise<Map<number, CreatedState>>
  /** Counts the drafts of a run by entity and state. */
  counts(runId: string): Promise<{ entity: string; state: CreatedState; count: number }[]>
  /** Returns the drafts of a run that have these keys, by key. */
  byKey(
    runId: string,
    keys: readonly string[],
  ): Promise<Map<string, { state: CreatedState; recordId: string | null; reason: string | null }>>
  /**
   * Reserves the identities of drafts, and returns the places of those that may go on. Another draft holds an identity of the others:
   * they wait for its end.
   */
  reserve(
    making: Making,
    drafts: readonly Draft[],
  ): Promise<{ reserved: Set<number>; held: Map<number, Holder> }>
  /** Notes that drafts may be in the CRM from now on. Returns the places of those that are still ours to send. */
  markSent(runId: string, ordinals: readonly number[]): Promise<Set<number>>
  /** Ends drafts, each as a task of the run. One that has ended stays as it is. */
  end(making: Making, drafts: readonly Draft[], endings: readonly Ending[]): Promise<void>
}

/** The kinds of identities of which a CRM has one record each. A company's name is not among them. */
const reservable: ReadonlySet<string> = new Set(['profile', 'service_id', 'email', 'domain'])

function reservableOf({ identities, sharesDomain = false, besides = [] }: Draft): RecordIdentity[] {
  const own = identities.filter(
    ({ kind }) => reservable.has(kind) && (besides.length === 0 || kind !== 'profile'),
  )
  const others = own.filter(({ kind }) => kind !== 'domain')
  return sharesDomain && others.length > 0 ? others : own
}

/** A draft whose process ended before it was sent gives way after this time. It is sent within seconds otherwise. */
const intentHoldsMs = 600_000

/**
 * The ledger of records that are made from lists.
 *
 * Crash windows, by the state in which a kill leaves a draft:
 * - No row: nothing was made. The draft is judged and reserved when the same plan is applied again.
 * - `intent`: nothing was sent. It is judged again, because time has passed; until then nobody else makes it, for ten minutes at most.
 *   Taken over by another list meanwhile, it can no longer be marked as sent.
 * - `sent`, before the request, while the CRM works on it, or after its answer: the CRM may have the record. It is looked up by its key
 *   first. Only one that is not there is judged again and sent as a repeat, which meets a record that has come meanwhile.
 * - An ended draft and its task are one transaction with the release of its identities. What the record held is read before that, so a
 *   record that was made and not ended is known without it, and is never archived by an undo.
 * Identities of a record that was made stay reserved until it is undone: the search of a CRM may not show it yet.
 */
export function createCreatedRecords(db: Database, { now }: { now: () => Date }): CreatedRecords {
  return {
    async states(runId, ordinals) {
      if (ordinals.length === 0) return new Map()
      const rows = await db
        .selectFrom('created_records')
        .select(['ordinal', 'state'])
        .where('run_id', '=', runId)
        .where('ordinal', 'in', [...ordinals])
        .execute()
      return new Map(rows.map(({ ordinal, state }) => [ordinal, state]))
    },

    async counts(runId) {
      const rows = await db
        .selectFrom('created_records')
        .select(['entity', 'state', sql<string>`count(*)`.as('count')])
        .where('run_id', '=', runId)
        .groupBy(['entity', 'state'])
        .execute()
      return rows.map((row) => ({ ...row, count: Number(row.count) }))
    },

    async byKey(runId, keys) {
      if (keys.length === 0) return new Map()
      const rows = await db
        .selectFrom('created_records')
        .select(['key', 'state', 'record_id', 'reason'])
        .where('run_id', '=', runId)
        .where('key', 'in', [...keys])
        .execute()
      return new Map(
        rows.map(({ key, state, record_id: recordId, reason }) => [key, { state, recordId, reason }]),
      )
    },

    async reserve(making, drafts) {
      if (drafts.length === 0) return { reserved: new Set(), held: new Map() }
      const { runId, list, connector, entity } = making
      const at = now()
      return db.transaction().execute(async (tx) => {
        // One at a time, so that two lists that name the same companies in another order never wait in a circle.
        await sql`select pg_advisory_xact_lock(hashtext(${`reserved_identities ${connector} ${entity}`}))`.execute(
          tx,
        )
        await releaseAbandoned(tx, making, drafts, new Date(at.getTime() - intentHoldsMs), at)
        const wanted = drafts.flatMap((draft) =>
          reservableOf(draft).map(({ kind, value }) => ({ ordinal: draft.ordinal, kind, value })),
        )
        const { rows: others } = await sql<Holder & { ordinal: number }>`
          select wanted.ordinal, made.run_id as "runId", made.list, made.state, made.record_id as "recordId",
            made.identities
          from jsonb_to_recordset(${storableJson(wanted)}::jsonb) as wanted (ordinal int, kind text, value text)
            join reserved_identities as kept on kept.connector = ${connector} and kept.entity = ${entity}
              and kept.kind = wanted.kind and kept.value = wanted.value
            join created_records as made on made.id = kept.created_id
          where made.run_id <> ${runId} or made.ordinal <> wanted.ordinal
          order by wanted.ordinal, wanted.kind <> 'profile', made.id`.execute(tx)
        const held = new Map<number, Holder>()
        for (const { ordinal, ...holder } of others) if (!held.has(ordinal)) held.set(ordinal, holder)
        const claimed = new Set<string>()
        const free = drafts.filter((draft) => {
          const { ordinal } = draft
          if (held.has(ordinal)) return false
          const own = reservableOf(draft).map(({ kind, value }) => `${kind}|${value}`)
          if (own.some((text) => claimed.has(text))) {
            held.set(ordinal, { runId, list, state: 'intent', recordId: null, identities: [] })
            return false
          }
          for (const text of own) claimed.add(text)
          return true
        })
        const { rows } = await sql<{ ordinal: number }>`
          with noted as (
            insert into created_records (run_id, list, connector, entity, ordinal, key, identity, identities, page,
              lookup_key, state, intended_at)
            select ${runId}, ${list}, ${connector}, ${entity}, given.*, 'intent', ${at}::timestamptz
            from jsonb_to_recordset(${storableJson(free.map(columnsOf))}::jsonb) as given (ordinal int, key text,
              identity jsonb, identities jsonb, page int, lookup_key text)
            on conflict (run_id, ordinal) do update set intended_at = excluded.intended_at
              where created_records.state in ('intent', 'sent')
            returning id, ordinal
          ), kept as (
            insert into reserved_identities (connector, entity, kind, value, created_id)
            select distinct ${connector}, ${entity}, wanted.kind, wanted.value, noted.id
            from jsonb_to_recordset(${storableJson(wanted)}::jsonb) as wanted (ordinal int, kind text, value text)
              join noted on noted.ordinal = wanted.ordinal
            on conflict do nothing
          ) select ordinal from noted`.execute(tx)
        return { reserved: new Set(rows.map(({ ordinal }) => ordinal)), held }
      })
    },

    async markSent(runId, ordinals) {
      if (ordinals.length === 0) return new Set()
      const rows = await db
        .updateTable('created_records')
        .set({ state: 'sent', sent_at: now() })
        .where('run_id', '=', runId)
        .where('ordinal', 'in', [...ordinals])
        .where('state', 'in', ['intent', 'sent'])
        .returning('ordinal')
        .execute()
      return new Set(rows.map(({ ordinal }) => ordinal))
    },

    async end(making, drafts, endings) {
      if (endings.length === 0) return
      const { runId, list, connector, entity } = making
      const at = now()
      const byOrdinal = new Map(drafts.map((draft) => [draft.ordinal, draft]))
      const rows = endings.map((ending) => ({
        ...columnsOf(byOrdinal.get(ending.ordinal) as Draft),
        state: ending.state,
        record_id: 'recordId' in ending ? ending.recordId : null,
        snapshot: 'snapshot' in ending ? ending.snapshot : null,
        reason: ending.reason,
        status: statusOf[ending.state],
      }))
      await db.transaction().execute(async (tx) => {
        await sql`
          with given as (
            select * from jsonb_to_recordset(${storableJson(rows)}::jsonb) as given (ordinal int, key text,
              identity jsonb, identities jsonb, page int, lookup_key text, state text, record_id text, snapshot jsonb,
              reason text, status text)
          ), ended as (
            insert into created_records as kept (run_id, list, connector, entity, ordinal, key, identity, identities,
              page, lookup_key, state, record_id, snapshot, reason, intended_at, ended_at)
            select ${runId}, ${list}, ${connector}, ${entity}, ordinal, key, identity, identities, page, lookup_key,
              state, record_id, nullif(snapshot, 'null'::jsonb), reason, ${at}::timestamptz, ${at}::timestamptz from given
            on conflict (run_id, ordinal) do update set state = excluded.state, record_id = excluded.record_id,
              snapshot = excluded.snapshot, reason = excluded.reason, ended_at = excluded.ended_at
              where kept.state in ('intent', 'sent')
            returning id, ordinal, state
          ), released as (
            delete from reserved_identities using ended
            where ended.id = reserved_identities.created_id and ended.state <> 'created'
          ), told as (
            insert into tasks (run_id, ordinal, record_id, kind, identity, status, reason, updated_at)
            select ${runId}, given.ordinal, coalesce(given.record_id, 'draft-' || given.ordinal), 'create', given.identity,
              given.status, given.reason, ${at}::timestamptz
            from given join ended on ended.ordinal = given.ordinal
            where ${making.isBeside !== true}::boolean
            on conflict do nothing returning 1
          ) update runs set records = records + (select count(*) from told) where id = ${runId}`.execute(tx)
      })
    },
  }
}

const statusOf: Readonly<Record<Ending['state'], TaskStatus>> = {
  created: 'written',
  exists: 'unchanged',
  rejected: 'rejected',
  left: 'skipped',
}

function columnsOf({ ordinal, key, identity, identities, page, lookupKey }: Draft) {
  return { ordinal, key, identity, identities, page, lookup_key: lookupKey }
}

/** Ends drafts of other runs that hold one of these identities and were never sent. */
async function releaseAbandoned(
  tx: Database,
  { runId, connector, entity }: Making,
  drafts: readonly Draft[],
  before: Date,
  at: Date,
): Promise<void> {
  const wanted = drafts.flatMap(({ identities }) => identities)
  const { rows } = await sql<{ id: string }>`
    update created_records set state = 'left', reason = 'another list took its turn', ended_at = ${at}::timestamptz
    where state = 'intent' and intended_at < ${before}::timestamptz and run_id <> ${runId} and id in (
      select created_id from jsonb_to_recordset(${storableJson(wanted)}::jsonb) as wanted (kind text, value text)
        join reserved_identities as kept on kept.connector = ${connector} and kept.entity = ${entity}
          and kept.kind = wanted.kind and kept.value = wanted.value)
    returning id::text`.execute(tx)
  if (rows.length > 0)
    await sql`delete from reserved_identities where created_id = any(${rows.map(({ id }) => id)}::bigint[])`.execute(
      tx,
    )
}
