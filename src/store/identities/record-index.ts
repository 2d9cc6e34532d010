import { sql, type RawBuilder } from 'kysely'
import type { NamedRecord, RecordIndex } from '../../domain/ports/record-index.ts'
import { identifiersOf, type Identifier } from '../../domain/subjects/identifiers.ts'
import { recordIdentities, type RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'

/** A record that has an identity. */
export interface IndexedRecord extends RecordIdentity {
  connector: string
  entity: string
  recordId: string
}

export interface RecordIndexLedger extends RecordIndex {
  /** The same as `keep` for a page of a whole scan: everything that is older than `since` counts as unseen. */
  keepSince(connector: string, entity: string, records: readonly NamedRecord[], since: Date): Promise<void>
  /** Returns every record of these connectors that has one of these identities, by identity. */
  find(connectors: readonly string[], identities: readonly RecordIdentity[]): Promise<IndexedRecord[]>
  /** Returns everything that identifies these records. */
  identitiesOf(connector: string, entity: string, ids: readonly string[]): Promise<IndexedRecord[]>
  /** Returns the profiles of these records, by id. */
  profilesOf(connector: string, entity: string, ids: readonly string[]): Promise<Map<string, string[]>>
}

export interface RecordIndexOptions {
  now: () => Date
  hosts: readonly string[]
  /** Returns the indexes of the suppressed subjects. */
  suppressed: (
    subjects: readonly (readonly Identifier[])[],
    options?: { isFresh?: boolean },
  ) => Promise<ReadonlySet<number>>
}

/** An entry that is seen again is written again only after this time: most pages of most scans change nothing. */
const touchAfterMs = 86_400_000

/**
 * The index of what identifies the CRMs' records. One process at a time changes the entries of an object, so that two scans of it
 * never wait for each other in a circle.
 */
export function createRecordIndex(db: Database, options: RecordIndexOptions): RecordIndexLedger {
  const { now, hosts, suppressed } = options

  async function store(
    connector: string,
    entity: string,
    records: readonly NamedRecord[],
    { replaces, unseenBefore, isScan }: { replaces: boolean; unseenBefore: Date; isScan: boolean },
  ): Promise<void> {
    if (records.length === 0) return
    const subjects = records.map(({ identity }) => identifiersOf(identity))
    const hidden = await suppressed(subjects)
    const rows = records
      .filter((_, at) => !hidden.has(at))
      .flatMap((record) => recordIdentities(record, { hosts }).map((each) => ({ id: record.id, ...each })))
    const unread = records.flatMap(({ id, unreadable }, at) =>
      unreadable === undefined || hidden.has(at) ? [] : [id],
    )
    const ids = records.map(({ id }) => id).filter((id) => !unread.includes(id))
    if (!replaces && rows.length === 0) return
    const mayBeKnown = !isScan && unread.length === 0
    if (mayBeKnown && (await isKnown(connector, entity, ids, rows, { replaces, unseenBefore }))) return
    await db.transaction().execute(async (tx) => {
      await lockObject(tx, connector, entity)
      // `not in` is answered from a hash of the list; `not exists` compares each entry with each.
      if (replaces)
        await sql`
          delete from record_identities where ctid = any(array(
            select kept.ctid from ${entriesOf(connector, entity, ids)} where (record_id, kind, value) not in (
              select given.id, given.kind, given.value
              from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (id text, kind text, value text))))`.execute(
          tx,
        )
      if (unread.length > 0)
        await sql`
          update record_identities set seen_at = ${now()} where connector = ${connector} and entity = ${entity}
            and record_id = any(${unread}::text[]) and seen_at < ${unseenBefore}`.execute(tx)
      if (rows.length === 0) return
      await sql`
        insert into record_identities as kept (connector, entity, record_id, kind, value, seen_at)
        select distinct ${connector}, ${entity}, id, kind, value, ${now()}::timestamptz
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given (id text, kind text, value text)
        on conflict (connector, entity, record_id, kind, value) do update set seen_at = excluded.seen_at
          where kept.seen_at < ${unseenBefore}`.execute(tx)
    })
    if (rows.length === 0) return
    // Crash window: a subject was suppressed and erased between the question and the commit, so that its entries came back. Whoever
    // forgets a subject suppresses it first, so that asking once more finds it. Killed before that, the next scan takes it out.
    const since = await suppressed(subjects, { isFresh: true })
    const back = records.flatMap(({ id }, at) => (since.has(at) && !hidden.has(at) ? [id] : []))
    await dropEntries(connector, entity, back)
  }

  /**
   * Returns true where the index has just these entries, and none needs to be marked as seen. Most records are read again and
   * again as they are: a press reads its record twice, and waits for one statement in place of a transaction.
   */
  async function isKnown(
    connector: string,
    entity: string,
    ids: readonly string[],
    given: readonly (RecordIdentity & { id: string })[],
    { replaces, unseenBefore }: { replaces: boolean; unseenBefore: Date },
  ): Promise<boolean> {
    const { rows } = await sql<{ known: boolean }>`
      with given as (
        select id, kind, value from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (id text, kind text, value text)
      ), kept as (
        select record_id as id, kind, value, seen_at from ${entriesOf(connector, entity, ids)}
      )
      -- As sets: by the statistics of a list, each entry of a hundred records was compared with each, for 15 ms.
      select not exists (
          select id, kind, value from given except select id, kind, value from kept where kept.seen_at >= ${unseenBefore})
        and (not ${replaces}::boolean or not exists (
          select id, kind, value from kept except select id, kind, value from given))
        as known`.execute(db)
    return rows[0]?.known ?? false
  }

  async function dropEntries(connector: string, entity: string, ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return
    await sql`delete from record_identities where connector = ${connector} and entity = ${entity}
      and record_id = any(${[...ids]}::text[])`.execute(db)
  }

  const touched = () => new Date(now().getTime() - touchAfterMs)
  return {
    keep: (connector, entity, records) =>
      store(connector, entity, records, { replaces: true, unseenBefore: touched(), isScan: false }),

    add: (connector, entity, records) =>
      store(connector, entity, records, { replaces: false, unseenBefore: touched(), isScan: false }),

    keepSince: (connector, entity, records, since) =>
      store(connector, entity, records, { replaces: true, unseenBefore: since, isScan: true }),

    drop: dropEntries,

    async find(connectors, identities) {
      if (identities.length === 0 || connectors.length === 0) return []
      const { rows } = await sql<IndexedRecord>`
        select distinct kept.kind, kept.value, connector, entity, record_id as "recordId"
        from jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as wanted (kind text, value text)
          join record_identities as kept on kept.kind = wanted.kind and kept.value = wanted.value
        where connector = any(${[...connectors]}::text[])
        order by kept.kind, kept.value, connector, entity, "recordId"`.execute(db)
      return rows
    },

    async identitiesOf(connector, entity, ids) {
      if (ids.length === 0) return []
      const { rows } = await sql<IndexedRecord>`
        select kind, value, connector, entity, record_id as "recordId" from ${entriesOf(connector, entity, ids)}
        order by "recordId", kind, value`.execute(db)
      return rows
    },

    async profilesOf(connector, entity, ids) {
      if (ids.length === 0) return new Map()
      const { rows } = await sql<{ id: string; profiles: string[] }>`
        select record_id as id, array_agg(value order by value) as profiles
        from ${entriesOf(connector, entity, ids)} where kind = 'profile'
        group by record_id`.execute(db)
      return new Map(rows.map(({ id, profiles }) => [id, profiles]))
    },
  }
}

/**
 * The entries of these records. Each record is looked for by itself (`offset 0`), which only the key's index can answer. Statistics
 * from before the first scan say that an object has one entry, and by them all of its entries were read for each record.
 */
function entriesOf(connector: string, entity: string, ids: readonly string[]): RawBuilder<unknown> {
  return sql`(select distinct unnest(${[...ids]}::text[]) as id) as asked cross join lateral (
    select ctid, record_identities.* from record_identities
    where connector = ${connector} and entity = ${entity} and record_id = asked.id
    offset 0
  ) as kept`
}

async function lockObject(tx: Database, connector: string, entity: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext(${`record_identities ${connector} ${entity}`}))`.execute(tx)
}
