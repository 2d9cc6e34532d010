import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createRecordIndex } from '../../src/store/identities/record-index.ts'
import { createTaskViews } from '../../src/store/runs/task-view.ts'
import { openLedgerRun } from '../support/ledger-run.ts'
import { adoptOrphans } from '../../src/store/runs/run-states.ts'
import { indexNewTasks } from '../../src/store/search/index-tasks.ts'
import { useWatchedLedger } from '../support/watched-ledger.ts'

// A press and a purchase ask for a row or two. By statistics of a moment before, all rows of a day looked cheaper.

const ledger = useWatchedLedger()
const now = () => new Date('2026-05-05T05:05:05Z')

test('the index of identities reads the entries of a record, also by statistics from before its first scan', async () => {
  const { db } = ledger.database
  const index = createRecordIndex(db, { now, hosts: [], suppressed: async () => new Set() })
  const record = (id: string, domain: string) => [{ id, object: 'company' as const, identity: { domain } }]
  await index.keep('crm', 'companies', record('first', 'first.example'))
  await sql`analyze record_identities`.execute(db)
  await sql`
    insert into record_identities (connector, entity, record_id, kind, value, seen_at)
    select 'crm', 'companies', number::text, 'domain', number || '.example', ${now()}
    from generate_series(1, 5000) as number`.execute(db)
  await index.keep('crm', 'companies', record('77', 'other.example'))
  expect(await index.identitiesOf('crm', 'companies', ['77', '77'])).toMatchObject([
    { recordId: '77', value: 'other.example' },
  ])
  expect(await index.identitiesOf('crm', 'companies', ['78'])).toMatchObject([{ value: '78.example' }])
  for (const part of ['as known', 'delete from record_identities', 'order by "recordId"']) {
    const plan = await ledger.planOf(part)
    expect(plan).toMatch(/Index Cond: .*record_id = /)
    expect(plan).not.toMatch(/Filter: .*record_id = ANY/)
  }
})

test('a purchase reads the charges of its lookup, and not those of the day beside them', async () => {
  const { db } = ledger.database
  const { run, keys, journal } = await openLedgerRun(ledger.database, { lookups: 40, now })
  await sql`
    insert into lookups (key, operation, request, state, run_id, connector, hot, due_at, answered_at)
    select 'other|' || number, 'company.profile', '{}', 'answered', ${run.id}, 'csv', false, ${now()}, ${now()}
    from generate_series(1, 3000) as number`.execute(db)
  const charges = sql`
    insert into charges (id, lookup_key, attempt, run_id, connector, operation, endpoint, url, body, protocol, currency,
      amount_atomic, authorization_json, nonce, payer, pay_to, budget_scopes, state, created_at, touched_at)
    select key || '-' || place, key, place, ${run.id}, 'csv', 'company.profile', '', '', '', 'x402', 'USD', 1, '{}',
      key || '-' || place, '', '', '{}', 'settled', ${now()}, ${now()}
    from lookups, generate_series(1, 3) as place`
  await charges.execute(db)
  await sql`analyze charges, lookups, bundle_members`.execute(db)
  ledger.forgetStatements()
  expect(await Promise.all(keys.map((key) => journal.unanswered(key)))).toHaveLength(40)
  const plan = await ledger.planOf('as asked (wanted) cross join lateral')
  expect(plan).toContain('charges_lookup_key_attempt_key')
  expect(plan).not.toMatch(/charges_created|charges_untouched|Seq Scan on charges/)
})

test('the answer to a press is composed without reading the tasks of the night', async () => {
  const { db } = ledger.database
  const night = await openLedgerRun(ledger.database, { lookups: 1, now })
  await sql`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    select ${night.run.id}, number, number::text, '{}', 'written', ${now()} from generate_series(1, 5000) as number`.execute(
    db,
  )
  await sql`analyze tasks`.execute(db)
  const press = await openLedgerRun(ledger.database, { lookups: 1, now })
  const [key] = press.keys
  const charge = await press.reserve(key!, [{ scope: 'run:press', capAtomic: 20_000n }])
  await sql`update charges set state = 'settled' where id = ${charge.id}`.execute(db)
  const { rows } = await sql<{ id: bigint }>`
    insert into tasks (run_id, ordinal, record_id, identity, status, steps, updated_at)
    select ${press.run.id}, ordinal, '1', '{}', 'written', array[${key}]::text[], ${now()}
    from generate_series(1, 2) as ordinal returning id`.execute(db)
  const views = createTaskViews(db)
  // Both waited for one lookup, which the first of them is told as its cost.
  expect(await views.get(rows.map(({ id }) => id))).toMatchObject([
    { costAtomic: 10_000n },
    { costAtomic: 0n },
  ])
  expect(await views.get([rows[0]!.id])).toMatchObject([{ costAtomic: 10_000n }])
  const plan = await ledger.planOf('as "paidAtomic"', { analyze: true })
  expect(plan).toMatch(/on tasks earlier.*never executed/)
})

test('lookups of runs that were broken off are looked for only where such a run can have left some', async () => {
  const { db } = ledger.database
  await openLedgerRun(ledger.database, { lookups: 500, now, connector: 'nightly' })
  ledger.forgetStatements()
  expect(await adoptOrphans(db, now(), ['file'])).toBe(0)
  expect(await ledger.planOf('with orphan as', { analyze: true })).toMatch(/on lookups owned.*never executed/)
})

test('a page of new words reads those behind its place, and not those of all tasks', async () => {
  const { db } = ledger.database
  const { run } = await openLedgerRun(ledger.database, { lookups: 1, now })
  await sql`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    select ${run.id}, 10 + number, 'word' || number, '{}', 'written', ${now()} from generate_series(1, 5000) as number`.execute(
    db,
  )
  const options = { hosts: [], limit: 2_000 }
  while ((await indexNewTasks(db, options)) > 0);
  await sql`
    insert into tasks (run_id, ordinal, record_id, identity, status, updated_at)
    select ${run.id}, 6000 + number, 'more' || number, '{}', 'written', ${now()} from generate_series(1, 300) as number`.execute(
    db,
  )
  await sql`analyze tasks, task_words`.execute(db)
  ledger.forgetStatements()
  expect(await indexNewTasks(db, { ...options, limit: 200 })).toBe(200)
  const plan = await ledger.planOf('select from task_words where task_id = tasks.id', { analyze: true })
  const read = [...plan.matchAll(/on task_words\b.*actual rows=(\d+)/g)].map(([, rows]) => Number(rows))
  expect(read).toHaveLength(1)
  expect(read[0]).toBeLessThanOrEqual(700)
})
