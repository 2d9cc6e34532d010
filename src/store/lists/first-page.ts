import { createHash } from 'node:crypto'
import type { Database } from '../database/database.ts'
import type { ListRow } from '../../domain/lists/list-row.ts'
import { keyOfRow } from './list-rows.ts'

/** Returns a digest of the total and the ids of a first page, in whatever order the service gives them. */
export function firstPageDigest({
  total,
  rows,
}: {
  total: number | null
  rows: readonly { row: Pick<ListRow, 'serviceId'> }[]
}): string {
  const ids = rows.map(({ row }) => keyOfRow(row, 0)).sort()
  return createHash('sha256')
    .update(JSON.stringify([total, ids]))
    .digest('hex')
}

/** Notes that a fetch was found unchanged: it is as fresh as the first pages that say so. */
export async function confirmFetch(db: Database, fetchId: string, freshUntil: Date): Promise<void> {
  await db
    .updateTable('list_fetches')
    .set({ fresh_until: freshUntil })
    .where('id', '=', BigInt(fetchId))
    .where('fresh_until', '<', freshUntil)
    .execute()
}
