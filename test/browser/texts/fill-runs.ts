import type { TaskStatus } from '../../../src/domain/words.ts'
import type { Database } from '../../../src/store/database/database.ts'
import { indefinitely, type RunState } from '../../../src/store/database/tables/states.ts'
import type { Filled } from './pages.ts'
import { lookupKey, storable } from './storable.ts'

/** Adds runs in several states, with the tasks, lookups and writes of each state. */
export async function fillRuns(db: Database, text: string, now: Date, filled: Filled): Promise<void> {
  const states: [id: string, state: RunState, source: object, entity: string][] = [
    [filled.run, 'working', {}, 'companies'],
    [filled.csvRun, 'parked', { file: storable(text) }, 'rows'],
    ['rtexts0000000000003', 'finished', { file: storable(text) }, 'rows'],
    ['rtexts0000000000004', 'failed', {}, storable(text)],
  ]
  await db
    .insertInto('runs')
    .values(
      states.map(([id, state, source, entity]) => ({
        id,
        connector: 'file' in source ? 'csv' : 'hubspot',
        object: 'company' as const,
        entity,
        recipe: storable(text),
        trigger: 'sync',
        state,
        fingerprint: id,
        source: JSON.stringify(source),
        scanned_at: now,
        records: 8,
        started_at: new Date(now.getTime() - 3_600_000),
        finished_at: state === 'finished' || state === 'failed' ? now : null,
      })),
    )
    .execute()
  // A person stopped the first of them.
  await db
    .insertInto('run_stops')
    .values({ run_id: filled.run, stopped_by: storable(text), reason: storable(text), stopped_at: now })
    .execute()
  const key = lookupKey(text)
  await db
    .insertInto('lookups')
    .values({
      key,
      operation: 'company.profile',
      request: '{}',
      state: 'parked',
      run_id: filled.run,
      connector: 'hubspot',
      due_at: indefinitely,
      code: 'policy',
      reason: storable(text),
      outcome: 'found',
      answered_at: now,
      fresh_until: now,
    })
    .execute()
  const statuses: TaskStatus[] = [
    'written',
    'unchanged',
    'skipped',
    'rejected',
    'parked',
    'looking_up',
    'ready',
  ]
  for (const run of [filled.run, filled.csvRun]) {
    await db
      .insertInto('tasks')
      .values(
        statuses.map((status, index) => ({
          run_id: run,
          ordinal: index + 1,
          record_id: index === 0 ? '1' : `${index}${storable(text)}`,
          identity: JSON.stringify({ domain: storable(text) }),
          status,
          lookup_key: key,
          waiting_for: status === 'parked' || status === 'looking_up' ? key : null,
          steps: [key],
          patch: status === 'written' ? JSON.stringify({ company_name: { set: storable(text) } }) : null,
          replaced: status === 'written' ? ['company_name'] : [],
          reason: status === 'written' ? null : storable(text),
          updated_at: now,
        })),
      )
      .execute()
  }
  const { id: task } = await db
    .selectFrom('tasks')
    .select('id')
    .where('run_id', '=', filled.run)
    .orderBy('ordinal')
    .limit(1)
    .executeTakeFirstOrThrow()
  await db
    .insertInto('field_writes')
    .values(
      (['written', 'rejected', 'undone'] as const).map((state, index) => ({
        task_id: task,
        run_id: filled.run,
        connector: 'hubspot',
        entity: 'companies',
        record_id: '1',
        field: ['company_name', 'domain', 'website'][index] ?? '',
        old_value: JSON.stringify(storable(text)),
        old_raw: null,
        new_value: JSON.stringify(storable(text)),
        lookup_key: key,
        price_atomic: 10_000n,
        currency: 'USD' as const,
        state: state === 'undone' ? ('written' as const) : state,
        superseded_by: null,
        rule: 'fill_blank',
        mapping: null,
        code: null,
        intended_at: now,
        written_at: now,
        undone_at: state === 'undone' ? now : null,
      })),
    )
    .execute()
}
