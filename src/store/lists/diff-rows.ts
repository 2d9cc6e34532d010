import { sql } from 'kysely'
import type { ListRow } from '../../domain/lists/list-row.ts'
import type { Database } from '../database/database.ts'

/** A row that one fetch has and another one lacks. */
export interface ChangedRow extends Pick<ListRow, 'serviceId' | 'values'> {
  ordinal: number
}

/**
 * Returns rows of a fetch behind a place that another fetch has neither by the service's id nor by the profile, at most `limit` of them,
 * in order.
 */
export async function rowsWithout(
  db: Database,
  { of, without }: { of: string; without: string },
  ordinal: number,
  limit: number,
): Promise<ChangedRow[]> {
  const { rows } = await sql<{ ordinal: number; key: string; cells: ListRow['values'] }>`
    select own.ordinal::float8 as ordinal, own.row_key as key, own.cells from list_rows as own
    where own.fetch_id = ${of}::bigint and own.ordinal > ${ordinal}::bigint
      and not exists (select from list_rows as other
        where other.fetch_id = ${without}::bigint and other.row_key = own.row_key)
      and not exists (
        select from jsonb_to_recordset(own.identities) as named (kind text, value text)
          join list_row_identities as other on other.fetch_id = ${without}::bigint and other.kind = named.kind
            and other.value = named.value
        where named.kind = 'profile')
    order by own.ordinal limit ${limit}`.execute(db)
  return rows.map(({ ordinal: place, key, cells }) => ({
    ordinal: place,
    serviceId: key.startsWith('id:') ? key.slice('id:'.length) : null,
    values: cells,
  }))
}
