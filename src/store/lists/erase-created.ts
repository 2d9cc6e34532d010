import { sql } from 'kysely'
import type { RecordIdentity } from '../../domain/subjects/record-identities.ts'
import type { Database } from '../database/database.ts'

/**
 * Erases a subject from the records that lists made and from the plans of lists, and returns the number of rows. The record in the
 * CRM stays where it is: the caller names it. A draft that is under way ends, because nobody can send it any more.
 *
 * `identities` are those that belong to the subject alone.
 */
export async function eraseCreated(
  tx: Database,
  { identities, taskIds }: { identities: readonly RecordIdentity[]; taskIds: readonly bigint[] },
  { now, token }: { now: () => Date; token: () => string },
): Promise<number> {
  const wanted = JSON.stringify(identities)
  const { rows: planned } = await sql`
    delete from plan_records using plans where plans.id = plan_records.plan_id and plans.kind = 'list'
      and exists (select from jsonb_to_recordset(plan_records.preview -> 'identities') as own (kind text, value text)
        join jsonb_to_recordset(${wanted}::jsonb) as wanted (kind text, value text)
          on own.kind = wanted.kind and own.value = wanted.value)
    returning plan_records.ordinal`.execute(tx)
  const { rows: made } = await sql<{ id: string }>`
    select made.id::text from created_records as made
    where exists (select from jsonb_to_recordset(made.identities) as own (kind text, value text)
        join jsonb_to_recordset(${wanted}::jsonb) as wanted (kind text, value text)
          on own.kind = wanted.kind and own.value = wanted.value)
      or exists (select from tasks where tasks.id = any(${taskIds.map(String)}::bigint[])
        and tasks.run_id = made.run_id and tasks.ordinal = made.ordinal)
    for update`.execute(tx)
  for (const { id } of made)
    await sql`
      update created_records set key = ${`forgotten-${token()}`}, identity = '{}', identities = '[]', snapshot = null,
        record_id = null, lookup_key = null, reason = 'forgotten',
        ended_at = coalesce(ended_at, ${now()}::timestamptz),
        state = case when state in ('intent', 'sent') then 'left' else state end
      where id = ${id}::bigint`.execute(tx)
  await sql`delete from reserved_identities where created_id = any(${made.map(({ id }) => id)}::bigint[])`.execute(
    tx,
  )
  return planned.length + made.length
}
