import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createFieldWriteLedger } from '../../src/store/writes/field-writes.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let database: OpenDatabase
let close: () => Promise<void>
const now = () => new Date('2026-05-05T05:05:05Z')

beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

/** A ready task whose fields are about to be written. */
async function intend(fields: readonly string[]): Promise<{ runId: string; taskId: bigint }> {
  const { run } = await openLedgerRun(database, { lookups: 0, now })
  const runId = run.id
  const { rows } = await sql<{ id: bigint }>`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    values (${runId}, 1, '7', '{}', 'ready', now()) returning id`.execute(database.db)
  const taskId = rows[0]!.id
  const shared = {
    taskId,
    runId,
    recordId: '7',
    old: null,
    lookupKey: null,
    rule: 'fill_blank',
    mapping: 'm',
  }
  const intents = fields.map((field) => ({ ...shared, field, new: `new ${field}` }))
  await createFieldWriteLedger(database.db, { now }).intend(intents as never)
  return { runId, taskId }
}

const settled = (taskId: bigint, written: string[]) => [
  { id: taskId, status: 'written' as const, patch: {}, reason: null, written, unknown: [] },
]

async function states(taskId: bigint) {
  const rows = await database.db
    .selectFrom('field_writes')
    .select(['field', 'state', 'old_value', 'old_raw', 'new_value'])
    .where('task_id', '=', taskId)
    .orderBy('field')
    .execute()
  return rows
}

test('what is written is stored with what was there, and nothing with null', async () => {
  const { taskId } = await intend(['city', 'name'])
  await createFieldWriteLedger(database.db, { now }).confirmWrites(settled(taskId, ['city']))
  // A write that was never sent leaves nothing behind.
  expect(await states(taskId)).toEqual([
    { field: 'city', state: 'written', old_value: null, old_raw: null, new_value: 'new city' },
  ])
})

test.skipIf(!process.env['DATABASE_URL'])(
  'a value that is undone while its write is being stored stays undone (needs a server: PGlite has one connection)',
  async () => {
    const { runId, taskId } = await intend(['city', 'name'])
    await createFieldWriteLedger(database.db, { now }).unpackIntents(runId)
    let settling: Promise<void> | undefined
    await database.db.transaction().execute(async (undo) => {
      await sql`update field_writes set state = 'undone' where task_id = ${taskId} and field = 'city'`.execute(
        undo,
      )
      settling = createFieldWriteLedger(database.db, { now }).confirmWrites(settled(taskId, ['city', 'name']))
      // It stands before the row that the undo holds.
      for (let isWaiting = false; !isWaiting;) {
        const { rows } = await sql<{ waits: boolean }>`
          select exists (select from pg_stat_activity where wait_event_type = 'Lock'
            and datname = current_database() and query like '%field_writes%') as waits`.execute(database.db)
        isWaiting = rows[0]!.waits
      }
    })
    await settling
    expect((await states(taskId)).map(({ field, state }) => `${field} ${state}`)).toEqual([
      'city undone',
      'name written',
    ])
  },
)
