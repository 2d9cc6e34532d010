import { sql } from 'kysely'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'
import { forgottenRecord } from '../../domain/subjects/forgotten.ts'

/** A subject as its notes are found: those to its records, and those whose text names it. */
interface NotedSubject {
  identities: readonly RecordIdentity[]
  taskIds: readonly bigint[]
}

/**
 * Returns the condition of a subject's rows. Its records are those of its tasks, those of the index and those that lists made, so that it
 * must be asked before these are erased.
 */
const ofSubject = ({ identities, taskIds }: NotedSubject) => sql`(
  exists (select from jsonb_to_recordset(crm_notes.identities) as own (kind text, value text)
    join jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as wanted (kind text, value text)
      on own.kind = wanted.kind and own.value = wanted.value)
  or (crm_notes.connector, crm_notes.entity, crm_notes.record_id) in (
    select runs.connector, runs.entity, tasks.record_id from tasks join runs on runs.id = tasks.run_id
    where tasks.id = any(${taskIds.map(String)}::bigint[])
    union
    select connector, entity, record_id from record_identities
      join jsonb_to_recordset(${JSON.stringify(identities)}::jsonb) as wanted (kind text, value text) using (kind, value)))`

/** Returns the notes and tasks of CRMs that are about a subject or name it, as far as the ledger knows them. */
export async function notesInCrms(
  db: Database,
  subject: NotedSubject,
): Promise<{ connector: string; entity: string; id: string }[]> {
  const { rows } = await sql<{ connector: string; entity: string; id: string }>`
    select distinct connector, kind as entity, note_id as id from crm_notes
    where note_id is not null and state = 'done' and ${ofSubject(subject)} order by 1, 2, 3`.execute(db)
  return rows
}

/**
 * Erases a subject from the ledger of notes and tasks, and returns the number of rows. Those in the CRM stay where they are: the caller
 * names them. One that is under way ends, because nobody can send it any more.
 */
export async function eraseNotes(
  tx: Database,
  subject: NotedSubject,
  { now, token }: { now: () => Date; token: () => string },
): Promise<number> {
  const { rows } = await sql<{ id: string }>`
    select id::text from crm_notes where record_id not like 'forgotten%' and ${ofSubject(subject)} for update`.execute(
    tx,
  )
  for (const { id } of rows)
    await sql`
      update crm_notes set marker = ${`forgotten-${token()}`}, record_id = ${forgottenRecord(token())}, draft = null,
        identities = '[]', note_id = null, snapshot = null, reason = 'forgotten',
        done_at = coalesce(done_at, ${now()}::timestamptz),
        state = case when state in ('intent', 'sent') then 'left' else state end
      where id = ${id}::bigint`.execute(tx)
  return rows.length
}
