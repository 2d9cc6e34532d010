import { sql } from 'kysely'
import type { Identifier } from '../../domain/subjects/identifiers.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'

/** The part of a subject by which its records are found. */
interface IndexedSubject {
  identifiers: readonly Identifier[]
  taskIds: readonly bigint[]
}

/**
 * Removes a subject's records from the index with all that is known of them, and returns the number of entries. Its records are those
 * of its tasks, and those with one of the identities that are `sure` to be its own: profiles, addresses, a company's domain. A phone leads to nobody, because a company may share it: only
 * the entries with that phone go.
 */
export async function eraseIndexed(
  tx: Database,
  { identifiers, taskIds }: IndexedSubject,
  sure: readonly RecordIdentity[],
): Promise<number> {
  const phones = identifiers.flatMap(({ kind, value }) => (kind === 'phone' ? [value] : []))
  const { rows } = await sql<{ erased: number }>`
    with named as (
      select distinct connector, entity, record_id
      from jsonb_to_recordset(${JSON.stringify(sure)}::jsonb) as wanted (kind text, value text)
        join record_identities as kept on kept.kind = wanted.kind and kept.value = wanted.value
      union
      select runs.connector, runs.entity, tasks.record_id from tasks join runs on runs.id = tasks.run_id
      where tasks.id = any(${taskIds.map(String)}::bigint[])
    ), gone as (
      delete from record_identities as kept
      where (connector, entity, record_id) in (select connector, entity, record_id from named)
        or (kind = 'phone' and value = any(${phones}::text[]))
        or (kind = 'phone_name' and split_part(value, '|', 1) = any(${phones}::text[]))
      returning 1
    ) select count(*)::int as erased from gone`.execute(tx)
  return rows[0]?.erased ?? 0
}

/** Returns the identities that are the subject's alone. A domain is left out: it names a company, and everyone with an address there. */
export function surely({ kind, value, isCompany }: Identifier, hosts: readonly string[]): RecordIdentity[] {
  if (kind === 'email') return [{ kind, value }]
  if (kind === 'profile_url') {
    const [host = '', ...path] = value.split('/')
    return hosts.includes(host) ? [{ kind: 'profile', value: path.join('/') }] : []
  }
  return kind === 'domain' && isCompany ? [{ kind, value }] : []
}
