import { sql, type RawBuilder } from 'kysely'
import type { CurrentRecord } from '../../domain/field-policy/current-record.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'

/** A record that was merged away, and the one that it became part of. */
export interface Merge {
  id: string
  into: string
}

interface Earlier {
  id: string
  earlier: string
}

/** The known merges of records in a CRM. A merge cannot be undone. */
export interface MergedRecords {
  noteMerges(connector: string, entity: string, merges: readonly Merge[]): Promise<void>
  /** Returns, by id, the ids under which the same record was known before, through any number of merges. */
  earlierIds(
    connector: string,
    entities: readonly string[],
    ids: readonly string[],
  ): Promise<Map<string, string[]>>
  /** Returns the record that this one is part of now, or null for one that is not known to be merged. */
  mergedInto(connector: string, entities: readonly string[], id: string): Promise<string | null>
}

export function createMergedRecords(db: Database, { now }: { now: () => Date }): MergedRecords {
  return {
    async noteMerges(connector, entity, merges) {
      const rows = [
        ...new Map(merges.filter(({ id, into }) => id !== into).map((row) => [row.id, row])).values(),
      ]
      if (rows.length === 0) return
      // The latest word holds: a record that was merged twice is found under its last id.
      await sql`
        insert into merged_records (connector, entity, record_id, into_id, seen_at)
        select ${connector}, ${entity}, id, "into", ${now()}::timestamptz
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as merge (id text, "into" text)
        order by id
        on conflict (connector, entity, record_id) do update set into_id = excluded.into_id, seen_at = excluded.seen_at
          where merged_records.into_id <> excluded.into_id`.execute(db)
    },

    async earlierIds(connector, entities, ids) {
      if (ids.length === 0 || entities.length === 0) return new Map()
      return byId((await selectEarlierIds(connector, entities, ids).execute(db)).rows)
    },

    async mergedInto(connector, entities, id) {
      const seen = new Set([id])
      for (let at = id; ;) {
        const row = await db
          .selectFrom('merged_records')
          .select('into_id')
          .where('connector', '=', connector)
          .where(isOneOf('entity', entities))
          .where('record_id', '=', at)
          .executeTakeFirst()
        if (!row || seen.has(row.into_id)) return at === id ? null : at
        at = row.into_id
        seen.add(at)
      }
    },
  }
}

/** The ids under which these records were known before, for `byId`. */
export function selectEarlierIds(
  connector: string,
  entities: readonly string[],
  ids: readonly string[],
): RawBuilder<Earlier> {
  // "union" drops what was seen, so that a circle, which no CRM should name, ends.
  return sql<Earlier>`
    with recursive known (id, earlier) as (
      select into_id, record_id from merged_records
      where connector = ${connector} and entity = any(${[...entities]}::text[])
        and into_id = any(${[...ids]}::text[])
      union
      select known.id, before.record_id from known cross join lateral (
        -- Each by itself: Postgres expects ten times as many as it has, and read all merges for them.
        select record_id from merged_records
        where connector = ${connector} and entity = any(${[...entities]}::text[]) and into_id = known.earlier offset 0
      ) as before
    )
    select id, earlier from known where id <> earlier order by id, earlier`
}

export function byId(rows: readonly Earlier[]): Map<string, string[]> {
  const groups = Map.groupBy(rows, ({ id }) => id)
  return new Map([...groups].map(([id, found]) => [id, found.map(({ earlier }) => earlier)]))
}

/** Returns the merges that a reading of records has shown. */
export function mergesIn(current: ReadonlyMap<string, CurrentRecord>): Merge[] {
  return [...current].flatMap(([id, record]): Merge[] => {
    if (record.state === 'merged') return [{ id, into: record.into }]
    if (record.state !== 'present') return []
    return (record.mergedIds ?? []).map((merged) => ({ id: merged, into: id }))
  })
}
