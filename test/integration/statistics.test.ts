import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createStatistics } from '../../src/store/database/analyse-tables.ts'
import { createFieldWriteLedger } from '../../src/store/writes/field-writes.ts'
import { oldestPress } from '../../src/store/views/metrics.ts'
import { openLedgerRun } from '../support/ledger-run.ts'
import { useWatchedLedger } from '../support/watched-ledger.ts'

const ledger = useWatchedLedger()
const now = () => new Date('2026-05-05T05:05:05Z')

/** Returns the number of tasks that the planner assumes; -1: it has never looked. */
async function believed(): Promise<number> {
  const { rows } = await sql<{ tuples: number }>`
    select reltuples::float8 as tuples from pg_class where oid = 'tasks'::regclass`.execute(
    ledger.database.db,
  )
  return rows[0]?.tuples ?? 0
}

test('a table that fills is looked at each time that it has doubled, and not in between', async () => {
  const { db } = ledger.database
  const { run } = await openLedgerRun(ledger.database, { lookups: 0, now })
  let ordinal = 0
  async function fill(count: number): Promise<void> {
    await sql`
      insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
      select ${run.id}, number, number::text, '{"name":"a company of some length"}', 'written', ${now()}
      from generate_series(${ordinal + 1}::int, ${ordinal + count}::int) as number`.execute(db)
    ordinal += count
  }
  const statistics = createStatistics(db)
  await fill(50)
  await statistics.refresh()
  const small = await believed()
  expect(small).toBeLessThan(100)
  await fill(5_000)
  await statistics.refresh()
  expect(await believed()).toBeCloseTo(5_050, -3)
  await fill(1_000)
  await statistics.refresh()
  expect(await believed()).toBeLessThan(5_900)
  await fill(6_000)
  await statistics.refresh()
  expect(await believed()).toBeGreaterThan(10_000)
})

test('the embedded ledger sorts no sample of what no condition asks for', async () => {
  const { rows } = await sql<{ name: string }>`
    select attname as name from pg_stats where tablename = 'tasks'`.execute(ledger.database.db)
  const known = rows.map(({ name }) => name)
  expect(known).toEqual(expect.arrayContaining(['id', 'run_id', 'status', 'updated_at']))
  if (ledger.database.kind === 'pglite') expect(known).not.toContain('identity')
  else expect(known).toContain('identity')
})

// Statistics of a night's beginning say that every task is of one run and waits for its lookup. Presses come after it, and the
// writer and the load shed ask about them many times a second.
test('questions about the tasks of a press do not read the tasks of a night', async () => {
  const { db } = ledger.database
  const night = await openLedgerRun(ledger.database, { lookups: 1, now, connector: 'nightly' })
  await sql`
    insert into tasks (run_id, ordinal, record_id, identity, status, waiting_for, updated_at)
    select ${night.run.id}, number, number::text, '{"name":"a company of some length"}', 'looking_up', ${night.keys[0]}, ${now()}
    from generate_series(1, 20000) as number`.execute(db)
  await sql`analyze`.execute(db)
  const press = await openLedgerRun(ledger.database, { lookups: 0, now, connector: 'nightly' })
  await sql`update runs set trigger = 'button', state = 'working', scanned_at = ${now()} where id = ${press.run.id}`.execute(
    db,
  )
  await sql`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    values (${press.run.id}, 1, '1', '{}', 'ready', ${now()})`.execute(db)
  ledger.forgetStatements()
  expect(await press.tasks.readyState('nightly', 'company')).toMatchObject({ hot: 1, moreToCome: true })
  expect(await oldestPress(db)).toBeInstanceOf(Date)
  expect(await ledger.planOf('with open as')).not.toContain('Seq Scan on tasks')
  expect(await ledger.planOf('min(runs.started_at)')).not.toContain('Seq Scan on tasks')
})

// Statistics of a moment without intents say that no write is one. The outcomes of a batch are stored in one transaction, for which
// everybody waits on the embedded pair.
test.each([
  ['in their tasks', ['with new as', 'as "hasRows"', 'insert into field_writes']],
  ['rows', ['with new as', 'select distinct lookup_key', 'with mine as']],
])(
  'storing the outcomes of a batch does not compare each of its fields with each: intents that are %s',
  async (form, parts) => {
    const { db } = ledger.database
    const { run } = await openLedgerRun(ledger.database, { lookups: 0, now, connector: `written-${form}` })
    const written = Array.from({ length: 12 }, (_, at) => `field_${at}`)
    let made = 0
    async function fill(count: number, state: 'intended' | 'written'): Promise<bigint[]> {
      const [from, to] = [made + 1, made + count]
      made = to
      const numbers = sql`generate_series(${from}::int, ${to}::int) as number`
      const key = (number: string) => sql`${`company.profile|${form}-`}::text || ${sql.ref(number)}`
      await sql`
      insert into lookups (key, operation, request, state, run_id, connector, hot, due_at)
      select ${key('number')}, 'company.profile', '{}', 'answered', ${run.id}, ${run.connector}, false, ${now()} from ${numbers}`.execute(
        db,
      )
      const { rows } = await sql<{ id: bigint }>`
      insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
      select ${run.id}, number, number::text, '{}', ${state === 'written' ? 'written' : 'ready'}, ${now()}
      from ${numbers} returning id`.execute(db)
      await sql`
      insert into field_writes (task_id, run_id, connector, entity, record_id, field, new_value, lookup_key, state, intended_at)
      select id, run_id, ${run.connector}, 'company', record_id, field, '"value"', ${key('record_id')}, ${state}, ${now()}
      from tasks, unnest(${written}::text[]) as field where id = any(${rows.map(({ id }) => String(id))}::bigint[])`.execute(
        db,
      )
      return rows.map(({ id }) => id)
    }
    await fill(300, 'written')
    await sql`analyze`.execute(db)
    const batch = await fill(100, 'intended')
    const fieldWrites = createFieldWriteLedger(db, { now })
    if (form !== 'rows') {
      const rows = await fieldWrites.ofRecords(
        run.connector,
        ['company'],
        Array.from({ length: 400 }, (_, at) => `${at + 1}`),
      )
      await sql`delete from field_writes where state = 'intended'`.execute(db)
      const intents = rows.filter(({ state }) => state === 'intended')
      await fieldWrites.intend(
        intents.map((row) => ({ ...row, new: 'value', rule: 'fill_blank', mapping: 'm' })),
      )
    }
    ledger.forgetStatements()
    const outcome = { status: 'written', patch: {}, reason: null, written, unknown: [] } as const
    await fieldWrites.confirmWrites(batch.map((id) => ({ id, ...outcome })))
    const { rows } = await sql<{ writes: number }>`
    select count(*)::int as writes from field_writes
    where state = 'written' and task_id = any(${batch.map(String)}::bigint[])`.execute(db)
    expect(rows).toEqual([{ writes: 1_200 }])
    for (const part of parts) expect(await ledger.planOf(part)).not.toContain('Join Filter')
  },
)

test('the writes of 60 records are pages, between which others have their turn', async () => {
  const { run, tasks } = await openLedgerRun(ledger.database, { lookups: 0, now, connector: 'paged' })
  const page = Array.from({ length: 60 }, (_, at) => `${at}`).map((recordId, at) => ({
    ordinal: at + 1,
    recordId,
    identity: {},
    status: 'ready' as const,
    lookupKey: null,
    duplicateOf: null,
    waitingFor: null,
    reason: null,
  }))
  await tasks.insertPage(run.id, page, '')
  const { rows } = await sql<{ id: bigint; record: string }>`
    select id, record_id as record from tasks where run_id = ${run.id}`.execute(ledger.database.db)
  const written = Array.from({ length: 15 }, (_, at) => `field_${at}`)
  const writes = createFieldWriteLedger(ledger.database.db, { now })
  ledger.forgetStatements()
  const of = { runId: run.id, old: null, new: 'value', lookupKey: null, rule: 'fill_blank', mapping: '' }
  await writes.intend(
    rows.flatMap(({ id, record }) =>
      written.map((field) => ({ ...of, taskId: id, recordId: record, field })),
    ),
  )
  const outcome = { status: 'written', patch: {}, reason: null, written, unknown: [] } as const
  let ways = 0
  const outcomes = rows.map(({ id }) => ({ id, ...outcome }))
  await writes.confirmWrites(outcomes, { goOn: async () => void (ways += 1) })
  const { sent } = ledger
  // On a server they lie between the reading of the records and their write, and are one statement.
  const intents = ledger.database.kind === 'pglite' ? 3 : 1
  expect([sent('insert into field_writes'), sent('commit'), sent('open_intents ||')]).toEqual([3, 3, intents])
  expect(ways).toBe(3)
  const { rows: stored } = await sql<{ count: number }>`
    select count(*)::int as count from field_writes where state = 'written' and run_id = ${run.id}`.execute(
    ledger.database.db,
  )
  expect(stored).toEqual([{ count: 900 }])
})
