import type { Database } from '../database/database.ts'

/** A key of a request that the service did not take as it was sent. */
export interface ServiceWarning {
  kind: 'ignored' | 'renamed'
  field: string
  to?: string
}

/** Keeps what the service says of our requests. Answers what it had not said before. */
export async function noteWarnings(
  db: Database,
  endpoint: string,
  warnings: readonly ServiceWarning[],
  at: Date,
): Promise<ServiceWarning[]> {
  const rows = await db
    .insertInto('service_warnings')
    .values(
      warnings.map(({ kind, field, to }) => ({
        endpoint,
        kind,
        field,
        renamed_to: to ?? null,
        first_seen_at: at,
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning(['kind', 'field', 'renamed_to'])
    .execute()
  return rows.map(({ kind, field, renamed_to: to }) => ({ kind, field, ...(to === null ? {} : { to }) }))
}
