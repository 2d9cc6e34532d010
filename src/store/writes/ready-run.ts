import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identity, Patch } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'
import { rowForms } from '../database/row-forms.ts'
import { newRunRow, type NewRun } from '../runs/runs.ts'

/** The values for one record, with the lookups that they come from, oldest first. */
export interface ReadyRow {
  recordId: string
  identity: Identity
  steps: readonly LookupKey[]
  patch: Patch
}

/**
 * Opens a run whose tasks are ready to be written, in one transaction: it has nothing to read and nothing to look up. Tasks of
 * earlier runs of the same trigger and source for these records that have sent nothing yet are skipped, because newer values take
 * their place.
 */
export async function openReadyRun(
  db: Database,
  run: NewRun,
  rows: readonly ReadyRow[],
  at: Date,
): Promise<void> {
  const forms = rowForms(db)
  const given = JSON.stringify(
    rows.map(({ recordId, identity, steps, patch }, index) => ({
      ordinal: index + 1,
      record_id: recordId,
      identity,
      steps,
      patch: forms.patch(patch),
    })),
  )
  await db.transaction().execute(async (tx) => {
    await sql`
      update tasks set status = 'skipped', reason = ${`newer values are written by run ${run.id}`}, updated_at = ${at}::timestamptz
      from runs, jsonb_to_recordset(${given}::jsonb) as given (record_id text)
      where tasks.run_id = runs.id and tasks.status = 'ready' and tasks.record_id = given.record_id
        and runs.finished_at is null and runs.trigger = ${run.trigger} and runs.connector = ${run.connector}
        and runs.entity = ${run.entity} and runs.source = ${JSON.stringify(run.source)}::jsonb
        and tasks.open_intents is null and not exists (select from field_writes where task_id = tasks.id)`.execute(
      tx,
    )
    await tx
      .insertInto('runs')
      .values({ ...newRunRow(run, at), state: 'working', records: rows.length, scanned_at: at })
      .execute()
    await sql`
      insert into tasks (run_id, ordinal, record_id, identity, status, steps, patch, updated_at)
      select ${run.id}, ordinal, record_id, identity, 'ready',
        array(select jsonb_array_elements_text(given.steps)), patch, ${at}::timestamptz
      from jsonb_to_recordset(${given}::jsonb)
        as given (ordinal int, record_id text, identity jsonb, steps jsonb, patch jsonb)`.execute(tx)
  })
}
