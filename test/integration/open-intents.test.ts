import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { eraseTaskRows } from '../../src/store/retention/erase-records.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { eraseLookups } from '../../src/store/subjects/erase-subject.ts'
import { writesOfTask } from '../../src/store/views/one-task.ts'
import { createFieldWriteLedger } from '../../src/store/writes/field-writes.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openLedgerRun } from '../support/ledger-run.ts'

let database: OpenDatabase
let close: () => Promise<void>
const now = () => new Date('2026-05-05T05:05:05Z')

beforeAll(async () => void ({ database, close } = await openFreshLedger()))
afterAll(() => close())

const ledger = () => createFieldWriteLedger(database.db, { now })

/** A ready task of a record that no other test knows, and a lookup that was paid for. */
async function openTask(record: string = randomUUID()) {
  const { run, keys, reserve } = await openLedgerRun(database, {
    lookups: 1,
    now,
    connector: 'hubspot',
  })
  const key = keys[0]!
  await reserve(key, [{ scope: `run:${run.id}`, capAtomic: 10_000n }])
  await sql`update charges set state = 'settled' where lookup_key = ${key}`.execute(database.db)
  const { rows } = await sql<{ id: bigint }>`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    values (${run.id}, 1, ${record}, '{}', 'ready', now()) returning id`.execute(database.db)
  const of = {
    taskId: rows[0]!.id,
    runId: run.id,
    recordId: record,
    lookupKey: key,
    rule: 'fill_blank',
    mapping: 'm',
  }
  const intent = (field: string, value: string, old: string | null = null) => ({
    ...of,
    field,
    old,
    new: value,
  })
  return { run, record, key, taskId: of.taskId, intent }
}

const outcome = (
  id: bigint,
  given: { written: string[]; unknown?: string[]; rejected?: { field: string; code: string }[] },
) => [{ id, status: 'written' as const, patch: {}, reason: null, unknown: [], ...given }]

const rowsOf = (taskId: bigint) =>
  database.db
    .selectFrom('field_writes')
    .select([
      'field',
      'old_value as old',
      'new_value as value',
      'state',
      'price_atomic as price',
      'code',
      'superseded_by as by',
    ])
    .where('task_id', '=', taskId)
    .orderBy('id')
    .execute()

async function taskOf(id: bigint) {
  return database.db
    .selectFrom('tasks')
    .select(['status', 'open_intents as intents'])
    .where('id', '=', id)
    .executeTakeFirst()
}

test('a repeated attempt keeps the values from before the first one, and adds its own fields', async () => {
  const { taskId, record, intent } = await openTask()
  await ledger().intend([intent('city', 'Bern', 'Basel')])
  await ledger().intend([intent('city', 'Zurich', 'Bern'), intent('name', 'A')])
  const { open, wrote } = await ledger().history('hubspot', 'company', [record], [taskId])
  expect(open.get(taskId)).toEqual([
    { taskId, field: 'city', old: 'Basel', new: 'Bern' },
    { taskId, field: 'name', old: null, new: 'A' },
  ])
  // Another task for the record reads what this one was about to write, and not as its own.
  expect(wrote.get(record)).toEqual([
    { field: 'city', value: 'Bern' },
    { field: 'name', value: 'A' },
  ])
  expect((await ledger().history('hubspot', 'company', [record], [])).open.size).toBe(0)
  expect(await rowsOf(taskId)).toEqual([])
  // A person is shown both.
  expect((await writesOfTask(database.db, taskId)).map(({ field, state }) => [field, state])).toEqual([
    ['city', 'intended'],
    ['name', 'intended'],
  ])
})

test.each(['in their task', 'rows'])(
  'each outcome of a field is stored, and the price is shared: intents that are %s',
  async (form) => {
    const first = await openTask()
    await ledger().intend([first.intent('city', 'Basel')])
    await ledger().confirmWrites(outcome(first.taskId, { written: ['city'] }))
    const [before] = await rowsOf(first.taskId)
    expect(before).toMatchObject({ state: 'written', price: 10_000n })

    const { taskId, run, intent } = await openTask(first.record)
    await ledger().intend(
      ['city', 'name', 'phone', 'street', 'zip'].map((field) => intent(field, `new ${field}`)),
    )
    if (form === 'rows') await ledger().unpackIntents(run.id)
    const rejected = [{ field: 'phone', code: 'invalid' }]
    await ledger().confirmWrites(
      outcome(taskId, { written: ['city', 'name', 'zip'], unknown: ['street'], rejected }),
    )
    const rows = await rowsOf(taskId)
    expect(rows.map(({ field, state, price, code }) => [field, state, price, code])).toEqual([
      ['city', 'written', 3_334n, null],
      ['name', 'written', 3_333n, null],
      ['phone', 'rejected', 0n, 'invalid'],
      ['street', 'superseded', 0n, null],
      ['zip', 'written', 3_333n, null],
    ])
    const { rows: ids } = await sql<{ id: bigint }>`
    select id from field_writes where task_id = ${taskId} and field = 'city'`.execute(database.db)
    expect(await rowsOf(first.taskId)).toEqual([{ ...before, state: 'superseded', by: ids[0]!.id }])
    expect(await taskOf(taskId)).toEqual({ status: 'written', intents: null })

    // The lookup has no cost left to share.
    const again = await openTask(first.record)
    await ledger().intend([{ ...again.intent('name', 'newer'), lookupKey: intent('', '').lookupKey }])
    await ledger().confirmWrites(outcome(again.taskId, { written: ['name'] }))
    expect(await rowsOf(again.taskId)).toMatchObject([{ field: 'name', state: 'written', price: 0n }])
  },
)

test('what an undo has taken back while it was written stays undone, and the rest is confirmed', async () => {
  const { taskId, run, record, intent } = await openTask()
  await ledger().intend([intent('city', 'Bern'), intent('name', 'A')])
  await ledger().unpackIntents(run.id)
  const [city] = await ledger().ofRun(run.id, [record], 'city')
  await ledger().markUndone([city!.id])
  // The attempt after it intends another value for the field that has a row.
  await ledger().intend([intent('city', 'Zurich'), intent('zip', '8000')])
  await ledger().confirmWrites(outcome(taskId, { written: ['city', 'name', 'zip'] }))
  expect((await rowsOf(taskId)).map(({ field, value, state }) => [field, value, state])).toEqual([
    ['city', 'Bern', 'undone'],
    ['name', 'A', 'written'],
    ['zip', '8000', 'written'],
  ])
  expect(await taskOf(taskId)).toEqual({ status: 'written', intents: null })
})

test('an erasure takes the values of what is being written, which is then confirmed without them', async () => {
  const { taskId, intent, record } = await openTask()
  await ledger().intend([intent('city', 'Bern', 'Basel')])
  await database.db
    .transaction()
    .execute((tx) => eraseTaskRows(tx, [String(taskId)], { now: now(), token: randomUUID }))
  // A worker that has read the task before stores nothing more of it.
  await ledger().intend([intent('name', 'A')], [{ taskId, recordId: record, values: { stamp: 'x' } }])
  await ledger().confirmWrites(outcome(taskId, { written: ['city', 'name'] }))
  const rows = await rowsOf(taskId)
  expect(rows).toMatchObject([{ field: 'city', old: null, value: null, state: 'written' }])
  expect(await taskOf(taskId)).toEqual({ status: 'skipped', intents: null })
})

// An intent becomes a row at any moment, and whoever reads one form after the other must not miss both.
test.skipIf(!process.env['DATABASE_URL'])(
  'who reads while intents become rows sees each field once (needs a server: PGlite has one connection)',
  async () => {
    for (let round = 0; round < 60; round += 1) {
      const { taskId, run, record, intent } = await openTask()
      await ledger().intend([intent('city', 'Bern'), intent('name', 'A')])
      const become =
        round % 2 === 0
          ? () => ledger().unpackIntents(run.id)
          : () => ledger().confirmWrites(outcome(taskId, { written: ['city', 'name'] }))
      const [{ wrote }, shown, found] = await Promise.all([
        ledger().history('hubspot', 'company', [record], [taskId]),
        writesOfTask(database.db, taskId),
        ledger().ofRecords('hubspot', ['company'], [record]),
        become(),
      ])
      for (const seen of [wrote.get(record) ?? [], shown, found])
        expect(seen.map(({ field }) => field).toSorted()).toEqual(['city', 'name'])
    }
  },
)

test.skipIf(!process.env['DATABASE_URL'])(
  'a write that replaces one of ours waits for nobody who has locked the task of that one (needs a server)',
  async () => {
    const first = await openTask()
    await ledger().intend([first.intent('city', 'Basel')])
    await ledger().confirmWrites(outcome(first.taskId, { written: ['city'] }))
    const { taskId, intent } = await openTask(first.record)
    await ledger().intend([intent('city', 'Bern', 'Basel')])
    await database.db.transaction().execute(async (erasure) => {
      await sql`select from tasks where id = ${first.taskId} for update`.execute(erasure)
      await ledger().confirmWrites(outcome(taskId, { written: ['city'] }))
    })
    expect(await rowsOf(taskId)).toMatchObject([{ field: 'city', state: 'written' }])
  },
)

test('a plan of an undo reads what is being written, and leaves it where it is', async () => {
  const { taskId, run, intent } = await openTask()
  await ledger().intend([intent('city', 'Bern', 'Basel')])
  expect(await ledger().openOfRun(run.id)).toMatchObject([
    { field: 'city', old: 'Basel', new: 'Bern', state: 'intended' },
  ])
  expect(await rowsOf(taskId)).toEqual([])
})

test('a task that has ended stores no intents: nobody would confirm them', async () => {
  const { taskId, intent } = await openTask()
  await ledger().intend([intent('city', 'Bern')])
  await ledger().confirmWrites(outcome(taskId, { written: ['city'] }))
  await ledger().intend([intent('city', 'Zurich'), intent('name', 'A')])
  expect(await taskOf(taskId)).toEqual({ status: 'written', intents: null })
})

test('a lookup that is renamed is renamed in what is being written from it', async () => {
  const { taskId, key, intent } = await openTask()
  await ledger().intend([intent('city', 'Bern')])
  const name = `company.profile|forgotten:${randomUUID()}` as LookupKey
  await database.db.transaction().execute((tx) => eraseLookups(tx, new Map([[key, name]])))
  await ledger().confirmWrites(outcome(taskId, { written: ['city'] }))
  const { rows } =
    await sql`select lookup_key as key, price_atomic as price from field_writes where task_id = ${taskId}`.execute(
      database.db,
    )
  expect(rows).toEqual([{ key: name, price: 10_000n }])
})
