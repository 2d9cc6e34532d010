import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createRecordIndex } from '../../src/store/identities/record-index.ts'
import { createFieldWriteLedger } from '../../src/store/writes/field-writes.ts'
import { openLedgerRun } from '../support/ledger-run.ts'
import { useWatchedLedger } from '../support/watched-ledger.ts'

const ledger = useWatchedLedger()
const now = () => new Date('2026-05-05T05:05:05Z')

// A list of n entries against n rows of a table, one by one, takes n² comparisons: seconds where n is five thousand.
test('the fields of a page of records are confirmed from a hash of what was written', async () => {
  const { run } = await openLedgerRun(ledger.database, { lookups: 0, now })
  const { rows: tasks } = await sql<{ id: bigint }>`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    select ${run.id}, n, n::text, '{}', 'ready', now() from generate_series(1, 100) as n returning id`.execute(
    ledger.database.db,
  )
  const fieldWrites = createFieldWriteLedger(ledger.database.db, { now })
  const fields = ['city', 'name', 'phone']
  const shared = { runId: run.id, old: null, lookupKey: null, rule: 'fill_blank', mapping: 'm' }
  await fieldWrites.intend(
    tasks.flatMap(({ id }, at) =>
      fields.map((field) => ({ ...shared, taskId: id, recordId: String(at + 1), field, new: field })),
    ) as never,
  )
  // As an undo leaves them.
  await fieldWrites.unpackIntents(run.id)
  ledger.forgetStatements()
  await fieldWrites.confirmWrites(
    tasks.map(({ id }) => ({
      id,
      status: 'written' as const,
      patch: {},
      reason: null,
      written: ['city', 'name'],
      unknown: [],
    })),
  )
  const { rows } = await sql<{ field: string; state: string; count: number }>`
    select field, state, count(*)::int from field_writes where run_id = ${run.id} group by 1, 2 order by 1`.execute(
    ledger.database.db,
  )
  expect(rows).toEqual([
    { field: 'city', state: 'written', count: 100 },
    { field: 'name', state: 'written', count: 100 },
  ])
  const plan = await ledger.planOf('delete from field_writes')
  expect(plan).toContain('hashed SubPlan')
  expect(plan).not.toContain('Nested Loop')
})

test('the identities of a page of records are replaced from a hash of the new ones', async () => {
  const index = createRecordIndex(ledger.database.db, {
    now,
    hosts: ['profnet.example'],
    suppressed: async () => new Set(),
  })
  const records = (from: number) =>
    Array.from({ length: 100 }, (_, at) => ({
      id: String(at),
      identity: { domain: `firm-${from + at}.example` },
      object: 'company',
      values: {},
    }))
  await index.keep('hubspot', 'companies', records(0) as never)
  ledger.forgetStatements()
  await index.keep('hubspot', 'companies', records(1_000) as never)
  const { rows } = await sql<{ value: string }>`
    select value from record_identities where connector = 'hubspot' and record_id = '7' and kind = 'domain'`.execute(
    ledger.database.db,
  )
  expect(rows).toEqual([{ value: 'firm-1007.example' }])
  const plan = await ledger.planOf('delete from record_identities')
  expect(plan).toContain('hashed SubPlan')
  // Each record finds its own entries, and none of them is compared with each new one.
  expect(plan).not.toContain('Join Filter')
})
