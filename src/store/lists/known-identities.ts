import { sql } from 'kysely'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'

/** Returns what the index knows of these records of some objects, by id, the surest first. One that is not in it is not among them. */
export async function knownIdentities(
  db: Database,
  { connector, comparable }: { connector: string; comparable: readonly string[] },
  ids: readonly string[],
): Promise<Map<string, RecordIdentity[]>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<RecordIdentity & { id: string }>`
    select record_id as id, kind, value from record_identities
    where connector = ${connector} and entity = any(${[...comparable]}::text[]) and record_id = any(${[...new Set(ids)]}::text[])
    order by record_id, array_position(array['profile', 'domain', 'email', 'name'], kind::text) nulls last, value`.execute(
    db,
  )
  const known = new Map<string, RecordIdentity[]>()
  for (const { id, ...identity } of rows) known.set(id, [...(known.get(id) ?? []), identity])
  return known
}
