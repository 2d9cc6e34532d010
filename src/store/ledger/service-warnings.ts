import type { Database } from '../database/database.ts'

/** A request key that the service ignored or renamed. */
export interface ServiceWarning {
  kind: 'ignored' | 'renamed'
  field: string
  to?: string | undefined
}

/** Stores the service's warnings about our requests, and returns the new ones. */
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
  return rows.map(({ kind, field, renamed_to: to }) => ({ kind, field, to: to ?? undefined }))
}

/** A warning with the request that had it: method and address. */
export interface KnownWarning extends ServiceWarning {
  endpoint: string
  firstSeenAt: Date
}

/** Returns every warning that the service has given, each once. */
export async function knownWarnings(db: Database): Promise<KnownWarning[]> {
  const rows = await db
    .selectFrom('service_warnings')
    .select(['endpoint', 'kind', 'field', 'renamed_to', 'first_seen_at as firstSeenAt'])
    .orderBy('endpoint')
    .orderBy('kind')
    .orderBy('field')
    .execute()
  return rows.map(({ renamed_to: to, ...row }) => ({ ...row, to: to ?? undefined }))
}
