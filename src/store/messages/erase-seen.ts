import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'

/** Erases companies from what monitors have delivered. The meanings stay as digests, so that a repeat is not worked again. */
export async function eraseSeen(tx: Database, identities: readonly RecordIdentity[]): Promise<number> {
  if (identities.length === 0) return 0
  const values = [...new Set(identities.map(({ value }) => value))]
  const rows = await tx
    .updateTable('monitor_seen')
    .set({ company: null })
    .where('company', 'in', values)
    .returning('meaning')
    .execute()
  return rows.length
}
