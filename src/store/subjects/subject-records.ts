import { sql } from 'kysely'
import { kindOfName } from '../../domain/subjects/names.ts'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'
import { surely } from '../identities/erase-indexed.ts'
import type { Subject } from './find-subject.ts'

/** A record that is about a subject: its name for `paydirt history`, and its file where it is a row of one. */
export interface SubjectRecord {
  connector: string
  entity: string
  id: string
  file: string | null
  runs: number
}

/** Returns the records that these tasks are about, each once. */
export async function recordsOfTasks(db: Database, taskIds: readonly bigint[]): Promise<SubjectRecord[]> {
  if (taskIds.length === 0) return []
  const { rows } = await sql<SubjectRecord>`
    select connector, entity, record_id as id, source->>'file' as file, count(distinct run_id)::int as runs
    from tasks join runs on runs.id = tasks.run_id
    where tasks.id = any(${taskIds.map(String)}::bigint[])
    group by 1, 2, 3, 4 order by 1, 2, 4, 3`.execute(db)
  return rows
}

/** A record of a CRM. */
export interface CrmRecord {
  connector: string
  entity: string
  id: string
}

/** Returns the identities that are a subject's alone, with the domains of a company. */
export function ownIdentities({ identifiers, names }: Subject, hosts: readonly string[]): RecordIdentity[] {
  return [
    ...identifiers.flatMap((each) => surely(each, hosts)),
    ...names.flatMap((value): RecordIdentity[] =>
      kindOfName(value) === 'domain' ? [{ kind: 'domain', value }] : [],
    ),
  ]
}

/**
 * Returns the records of CRMs that hold a subject, as far as the ledger knows them: those that were enriched, that the index found, or that
 * a list has made. Nothing of this is known any more once the subject is erased.
 */
export async function recordsInCrms(
  db: Database,
  subject: Subject,
  hosts: readonly string[],
): Promise<CrmRecord[]> {
  const wanted = JSON.stringify(ownIdentities(subject, hosts))
  const tasks = subject.taskIds.map(String)
  const { rows } = await sql<CrmRecord>`
    with wanted as (select * from jsonb_to_recordset(${wanted}::jsonb) as wanted (kind text, value text))
    select connector, entity, record_id as id from tasks join runs on runs.id = tasks.run_id
    where tasks.id = any(${tasks}::bigint[]) and source ->> 'file' is null and record_id not like 'draft-%'
      and record_id not like 'forgotten%'
    union
    select connector, entity, record_id from record_identities join wanted using (kind, value)
    union
    select connector, entity, record_id from created_records where record_id is not null and state = 'created'
      and exists (select from jsonb_to_recordset(created_records.identities) as own (kind text, value text)
        join wanted using (kind, value))
    order by 1, 2, 3`.execute(db)
  return rows
}
