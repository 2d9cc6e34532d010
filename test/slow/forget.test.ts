// One file because each test asks of one planted person that nothing of them is left anywhere.
import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { forget, planForget } from '../../src/app/records/forget.ts'
import { lookupsOfRecord } from '../../src/app/records/record-lookups.ts'
import { undoableRun, undoRun } from '../../src/app/records/undo.ts'
import { describeRun } from '../../src/app/runs/run-detail.ts'
import { eraseSubject } from '../../src/store/subjects/erase-subject.ts'
import { findSubject } from '../../src/store/subjects/find-subject.ts'
import { reconcile } from '../../src/app/money/reconcile.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { planSync } from '../../src/app/runs/sync.ts'
import type { LookupKey } from '../../src/domain/keys.ts'
import { openRedis } from '../../src/queues/connection.ts'
import { createQueues } from '../../src/queues/queues.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  await house?.close()
  house = undefined as never
})

const urlOf = (name: string) => `https://www.profnet.com/in/${name}`
const known = Array.from({ length: 60 }, (_, index) => `quita-zanders-${index}`).filter(
  (name) => personAnswer(urlOf(name)).data !== null,
)

function fill(count: number): string[] {
  return known.slice(0, count).map((name, index) =>
    house.add('contacts', {
      firstname: 'Quita',
      lastname: `Zanders${index}`,
      email: `quita.${index}@mail-of-zanders.example`,
      phone: `+49 30 9018 20${10 + index}`,
      profnet_url: urlOf(name),
    }),
  )
}

const dump = () => dumpLedger(house.context)

describe('forgetting a subject', () => {
  test('leaves no trace of it in the database, keeps the amounts, and the accounts still balance', async () => {
    house = await openCrmHouse(sandbox)
    fill(4)
    const { summary } = await house.sync('contacts')
    expect(summary).toMatchObject({ records: 4, lookups: { paid: 4 }, tasks: { written: 4 } })
    const job = { entity: 'contacts', filter: [], since: new Date(0) }
    const signal = new AbortController().signal
    await planSync(house.context, house.connector, job, signal, 'p1')
    const words = ['quita.1@mail-of-zanders.example', 'Zanders1', `${known[1]}`, '9018 2011', '3090182011']
    expect(tracesIn(await dump(), words).length).toBeGreaterThan(3)
    const before = await reconcile(house.context, house.wallet)
    expect(before).toMatchObject({ differences: [], difference: '0.000000' })

    const marks = readIdentifiers({ email: ['Quita.1@Mail-of-Zanders.example'] })
    const rows = await dump()
    const { identifiers, records, lookups, refusal, plan, ...planned } = await planForget(
      house.context,
      marks,
      { suppress: true },
    )
    expect({ plan, refusal }).toEqual({ plan: true, refusal: null })
    expect(identifiers.map(({ value }) => value)).toEqual(
      expect.arrayContaining(['quita.1@mail-of-zanders.example', `profnet.com/in/${known[1]}`]),
    )
    expect(records).toMatchObject([{ connector: 'hubspot', entity: 'contacts', file: null, runs: 1 }])
    expect(lookups).toEqual([expect.stringContaining(known[1] as string)])
    // A plan changes nothing.
    expect((await dump()) === rows).toBe(true)

    const { erased, suppressed, ...rest } = await forget(house.context, marks, { suppress: true })
    // And does not differ from what is done.
    const { inCrms, ...told } = planned
    expect({ erased, suppressed, rest }).toEqual({ ...told, rest: { plan: false, inCrms } })
    expect(inCrms).toEqual([{ connector: 'hubspot', entity: 'contacts', id: expect.any(String) }])
    expect(erased).toMatchObject({ lookups: 1, tasks: 1, charges: 1, planRecords: 1 })
    expect(erased.fieldWrites).toBeGreaterThan(0)
    // By its address and by the profile that the record told.
    expect(suppressed).toBeGreaterThanOrEqual(2)
    expect(tracesIn(await dump(), words)).toEqual([])
    expect(tracesIn(await dump(), ['quita.2@mail-of-zanders.example']).length).toBeGreaterThan(0)
    expect(await reconcile(house.context, house.wallet)).toMatchObject({
      ledger: before.ledger,
      chain: before.chain,
      differences: [],
      difference: '0.000000',
    })

    const again = await house.sync('contacts', (inner) => inner, { since: new Date(0) })
    expect(again.summary).toMatchObject({ lookups: { paid: 0 } })
    const tasks = await house.context.database.db
      .selectFrom('tasks')
      .select(['status', 'reason'])
      .where('run_id', '=', again.summary.runId)
      .where('reason', '=', 'suppressed')
      .execute()
    expect(tasks).toEqual([{ status: 'skipped', reason: 'suppressed' }])
    expect(tracesIn(await dump(), words)).toEqual([])
    expect(await house.transfers()).toHaveLength(4)
  })

  test('leaves nothing of an intent that a worker stores at the same moment', async () => {
    house = await openCrmHouse(sandbox)
    const [id] = fill(2)
    const { context } = house
    const { db } = context.database
    const { summary } = await house.sync('contacts')
    await sql`delete from field_writes`.execute(db)
    const { id: taskId } = await db
      .selectFrom('tasks')
      .select('id')
      .where('record_id', '=', id as string)
      .executeTakeFirstOrThrow()
    const intent = {
      taskId,
      runId: summary.runId,
      recordId: id as string,
      field: 'job_title',
      old: null,
      new: 'Director of Zanders0',
      lookupKey: null,
      rule: 'fill_blank',
      mapping: 'm',
    }
    const marks = readIdentifiers({ email: ['quita.0@mail-of-zanders.example'] })
    const subject = await findSubject(db, marks)
    let stored: Promise<void> | undefined
    await eraseSubject(db, subject, {
      now: context.now,
      token: () => randomBytes(12).toString('hex'),
      // The worker has read the task before, and stores its intent while the erasure is not committed yet.
      note: async () => {
        stored = context.fieldWrites.intend([intent])
        await new Promise((resolve) => setTimeout(resolve, 100))
      },
    })
    await stored
    expect(tracesIn(await dump(), ['Director of Zanders0'])).toEqual([])
  })

  test('cuts the tie between its records and what they cost; run, month and undo keep their figures', async () => {
    house = await openCrmHouse(sandbox)
    const { context } = house
    const { db } = context.database
    const [, id = ''] = fill(3)
    const { summary } = await house.sync('contacts')
    await context.fieldWrites.noteMerges('hubspot', 'contacts', [{ id: 'merged', into: id }])
    const figures = async () => ({
      run: { ...(await describeRun(context, summary.runId)), startedAt: null, finishedAt: null },
      money:
        await sql`select run_id, connector, operation, amount_atomic, currency, state, budget_scopes, nonce, created_at,
        closed_at from charges order by nonce`.execute(db),
      budgets: await db.selectFrom('budgets').selectAll().orderBy('scope').execute(),
    })
    const name = { connector: 'hubspot', object: 'contact', id }
    const before = await figures()
    expect((await lookupsOfRecord(context, name)).spend.settledAtomic).toBe(10_000n)
    const taskId = BigInt(
      (await db.selectFrom('tasks').select('id').where('record_id', '=', id).executeTakeFirstOrThrow()).id,
    )
    const marks = readIdentifiers({ email: ['quita.1@mail-of-zanders.example'] })

    // Killed before the commit: everything is as it was.
    const rows = await dump()
    const subject = await findSubject(db, marks)
    const token = () => randomBytes(12).toString('hex')
    const killed = eraseSubject(db, subject, {
      now: context.now,
      token,
      note: () => Promise.reject(new Error('killed')),
    })
    await expect(killed).rejects.toThrow('killed')
    expect((await dump()) === rows).toBe(true)

    await forget(context, marks, { suppress: false })
    expect(await figures()).toEqual(before)
    // By the record nothing is found any more.
    expect(await lookupsOfRecord(context, name)).toMatchObject({
      history: { fields: [], tasks: [] },
      spend: { settledAtomic: 0n },
    })
    for (const table of ['tasks', 'field_writes', 'button_tasks', 'merged_records'] as const) {
      const { rows: tied } = await sql`select 1 from ${sql.table(table)} where record_id = ${id}`.execute(db)
      expect([table, tied]).toEqual([table, []])
    }
    // Nor from the task, whose place in the run stays, by key or by a time that only both have.
    const { rows: charges } = await sql`
      select charges.id from tasks join charges on charges.lookup_key = any(steps || tasks.lookup_key || waiting_for)
      where tasks.id = ${taskId} union all
      select charges.id from field_writes join charges using (lookup_key) where task_id = ${taskId}`.execute(
      db,
    )
    expect(charges).toEqual([])
    const { rows: sameTime } = await sql`
      select lookups.key from lookups join tasks on tasks.id = ${taskId}
        and updated_at in (lookups.due_at, queued_until, answered_at, fresh_until)`.execute(db)
    expect(sameTime).toEqual([])

    // An undo leaves its fields, and does not ask the CRM for a record that has no id.
    const asked: string[] = []
    const connector = {
      ...house.connector,
      read: (entity: string, ids: readonly string[]) => {
        asked.push(...ids)
        return house.connector.read(entity, ids)
      },
    }
    const run = (await undoableRun(context, summary.runId))!
    const { signal } = new AbortController()
    const undone = await undoRun(context, connector, run, { plan: true, signal })
    expect(asked).toHaveLength(2)
    expect(undone.left).toBeGreaterThan(0)
    for (const { record, reason } of undone.rows.filter(({ outcome }) => outcome === 'left'))
      expect([record, reason]).toEqual([
        expect.stringMatching(/^forgotten:[0-9a-f]{24}$/),
        'its values were erased: its subject was forgotten, or it is older than retention.recordsDays',
      ])
  })

  test('of a file keeps the line, and nothing leads from it to an amount', async () => {
    house = await openCrmHouse(sandbox)
    const { context } = house
    const { db } = context.database
    fill(2)
    const { summary } = await house.sync('contacts')
    // The same rows, as a file has them.
    await db.updateTable('runs').set({ connector: 'csv' }).where('id', '=', summary.runId).execute()
    await forget(context, readIdentifiers({ email: ['quita.1@mail-of-zanders.example'] }), { suppress: true })
    const { rows } = await sql<{ line: boolean; paid: number }>`
      select record_id not like 'forgotten:%' as line,
        (select count(*)::int from charges where charges.lookup_key = any(steps || tasks.lookup_key)) as paid
      from tasks where run_id = ${summary.runId} order by ordinal`.execute(db)
    expect(rows).toEqual([
      { line: true, paid: 1 },
      { line: true, paid: 0 },
    ])
  })

  test('takes it out of what was told about others, and does not count it as theirs', async () => {
    house = await openCrmHouse(sandbox)
    fill(1)
    await house.sync('contacts')
    const answer = personAnswer(urlOf(known[0] as string)).data
    const neighbour = answer?.similar_profiles?.[0] ?? answer?.people_also_viewed?.[0]
    const url = neighbour?.profnet_url ?? ''
    const slug = url.slice(url.lastIndexOf('/') + 1)
    expect(tracesIn(await dump(), [slug]).length).toBe(1)
    const { erased } = await forget(house.context, readIdentifiers({ profile_url: [url] }), {
      suppress: false,
    })
    expect(erased).toMatchObject({ lookups: 0, tasks: 0, mentions: 1 })
    expect(tracesIn(await dump(), [slug])).toEqual([])
    expect(tracesIn(await dump(), [known[0] as string]).length).toBeGreaterThan(0)
  })

  test('keeps nothing of a suppressed person and buys nothing about one', async () => {
    house = await openCrmHouse(sandbox)
    fill(3)
    const listed = readIdentifiers({
      phone: ['+49 30 90182010'],
      domain: [],
      email: ['QUITA.2@mail-of-zanders.example'],
    })
    expect(await house.context.suppressions.add(listed)).toBe(2)
    const { summary } = await house.sync('contacts')
    expect(summary).toMatchObject({
      lookups: { paid: 1 },
      tasks: { written: 1, skipped: 2 },
      reasons: [{ status: 'skipped', reason: 'suppressed', count: 2 }],
    })
    expect(tracesIn(await dump(), ['quita.2@', 'Zanders2', 'Zanders0'])).toEqual([])
    await house.context.suppressions.remove(listed)
    expect(await house.context.suppressions.list()).toEqual([])
  })
})

test('a forgotten lookup leaves the queue, and its neighbours stay', async () => {
  const redis = await openRedis(process.env['REDIS_URL'])
  const prefix = `paydirt_test_forget_${process.pid}`
  const queues = createQueues(redis.redis, { prefix, onError: () => {} })
  try {
    const [one, other] = ['person.profile|profnet.com/in/a', 'person.profile|profnet.com/in/b'] as LookupKey[]
    await queues.addLookups('background', [one, other] as LookupKey[])
    await queues.addLookups('hot', [one as LookupKey])
    expect(await queues.dropLookups([one as LookupKey])).toBe(2)
    expect(await queues.dropLookups([one as LookupKey])).toBe(0)
    expect([await queues.countLookups('background'), await queues.countLookups('hot')]).toEqual([1, 0])
    await queues.dropLookups([other as LookupKey])
  } finally {
    await queues.close()
    await redis.close()
  }
})
