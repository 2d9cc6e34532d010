import { sql, type Selectable } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { FoundAt } from '../../domain/lists/list-parts.ts'
import type { ListRow, StoredRow } from '../../domain/lists/list-row.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import type { ListTables } from '../database/tables/identity-tables.ts'
import { isOneOf, storableJson } from '../database/parameters.ts'

/** The first rows of a fetch that have an identity. */
interface FirstRows extends RecordIdentity {
  ordinal: number
  /** The first that has it without a profile. */
  alone: number | null
  isShared: boolean
}

/** The rows of fetches. Rows are read in batches, so that a list of any length is never held whole. */
export interface ListRows {
  /** Returns at most `limit` rows behind a place, in order. */
  after(fetchId: string, object: ObjectKind, ordinal: number, limit: number): Promise<StoredRow[]>
  /** Returns the first rows that have these identities, for those of the kinds that tell rows apart. */
  firstWith(fetchId: string, identities: readonly RecordIdentity[]): Promise<FirstRows[]>
  /** Returns the rows with these keys, by key. */
  byKey(fetchId: string, object: ObjectKind, keys: readonly string[]): Promise<Map<string, StoredRow>>
  /** Returns the places of the rows with these keys of the service, by key. */
  known(fetchId: string, keys: readonly string[]): Promise<Map<string, { ordinal: number; found: FoundAt[] }>>
}

/** The kinds of identities by which rows of a list are told apart. */
const telling: ReadonlySet<string> = new Set(['profile', 'service_id', 'email', 'domain'])

/** Returns the key of a row: the service's id. One without an id is like no other. */
export function keyOfRow({ serviceId }: Pick<ListRow, 'serviceId'>, ordinal: number): string {
  // A text column takes neither NUL nor half a surrogate pair.
  return serviceId === null ? `row:${ordinal}` : `id:${serviceId.toWellFormed().replaceAll('\0', '')}`
}

export function createListRows(db: Database): ListRows {
  return {
    async after(fetchId, object, ordinal, limit) {
      const rows = await db
        .selectFrom('list_rows')
        .selectAll()
        .where('fetch_id', '=', BigInt(fetchId))
        .where('ordinal', '>', BigInt(ordinal))
        .orderBy('ordinal')
        .limit(limit)
        .execute()
      return rows.map((row) => toRow(row, object))
    },

    async byKey(fetchId, object, keys) {
      if (keys.length === 0) return new Map()
      const rows = await db
        .selectFrom('list_rows')
        .selectAll()
        .where('fetch_id', '=', BigInt(fetchId))
        .where(isOneOf('row_key', keys))
        .execute()
      return new Map(rows.map((row) => [row.row_key, toRow(row, object)]))
    },

    async firstWith(fetchId, identities) {
      const wanted = identities.filter(({ kind }) => telling.has(kind))
      if (wanted.length === 0) return []
      const { rows } = await sql<FirstRows>`
        select kept.kind, kept.value, kept.ordinal::float8 as ordinal, kept.alone::float8 as alone,
          kept.is_shared as "isShared"
        from (select distinct kind, value from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb)
            as given (kind text, value text)) as wanted
          join list_row_identities as kept on kept.fetch_id = ${fetchId}::bigint and kept.kind = wanted.kind
            and kept.value = wanted.value`.execute(db)
      return rows
    },

    async known(fetchId, keys) {
      if (keys.length === 0) return new Map()
      const rows = await db
        .selectFrom('list_rows')
        .select(['row_key', 'ordinal', 'found'])
        .where('fetch_id', '=', BigInt(fetchId))
        .where(isOneOf('row_key', keys))
        .execute()
      return new Map(
        rows.map(({ row_key: key, ordinal, found }) => [key, { ordinal: Number(ordinal), found }]),
      )
    },
  }
}

function toRow(row: Selectable<ListTables['list_rows']>, object: ObjectKind): StoredRow {
  return {
    object,
    ordinal: Number(row.ordinal),
    part: Number(row.part),
    page: Number(row.page),
    lookupKey: row.lookup_key as LookupKey,
    serviceId: row.row_key.startsWith('id:') ? row.row_key.slice('id:'.length) : null,
    identity: row.identity,
    identities: row.identities,
    values: row.cells,
    found: row.found,
  }
}

/** Stores the identities by which later rows are compared with these. */
export async function tellRows(
  tx: Database,
  fetchId: string,
  rows: readonly (Pick<ListRow, 'serviceId' | 'identities'> & { ordinal: number })[],
): Promise<void> {
  const told = rows.flatMap((row) => tellingOf(row).map((each) => ({ ...each, ordinal: row.ordinal })))
  await sql`
    insert into list_row_identities as kept (fetch_id, kind, value, ordinal, alone, is_shared)
    select ${fetchId}::bigint, kind, value, min(ordinal), min(ordinal) filter (where "isAlone"), count(*) > 1
    from jsonb_to_recordset(${storableJson(told)}::jsonb)
      as given (kind text, value text, ordinal bigint, "isAlone" boolean)
    group by kind, value
    on conflict (fetch_id, kind, value) do update
      set is_shared = true, alone = coalesce(kept.alone, excluded.alone)`.execute(tx)
}

/** Returns the identities of a row by which later rows are compared with it. One without an id is compared with none. */
function tellingOf({
  serviceId,
  identities,
}: Pick<ListRow, 'serviceId' | 'identities'>): (RecordIdentity & { isAlone: boolean })[] {
  if (serviceId === null) return []
  const isAlone = !identities.some(({ kind }) => kind === 'profile')
  return identities.filter(({ kind }) => telling.has(kind)).map((each) => ({ ...each, isAlone }))
}
