import { readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { reconcile } from '../../src/app/money/reconcile.ts'
import { readSpend } from '../../src/app/money/spend-report.ts'
import { enforceRetention, reportRetention } from '../../src/app/upkeep/retention.ts'
import { noteFromCli } from '../../src/app/context/audit-from-cli.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { keptTables } from '../../src/store/retention/register.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse
let ahead = 0

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  ahead = 0
  await house.close()
})

const dayMs = 86_400_000
const known = Array.from({ length: 60 }, (_, index) => `quita-zanders-${index}`).find(
  (name) => personAnswer(`https://www.profnet.com/in/${name}`).data !== null,
)!
const kept = { answersDays: 90, signalsDays: 60, recordsDays: 90, messagesDays: 60, auditDays: 60 }
const open = () =>
  openCrmHouse(sandbox, {
    config: { retention: kept },
    overrides: { now: () => new Date(Date.now() + ahead) },
  })

test('every table of the schema is in the register once, and the docs have the register', async () => {
  house = await open()
  const { rows } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(
    house.context.database.db,
  )
  expect(keptTables.map(({ table }) => table).toSorted()).toEqual(rows.map(({ name }) => name).toSorted())
  const docs = readFileSync('docs/operations.md', 'utf8').replaceAll(/ +/g, ' ')
  for (const { table, why } of keptTables) expect(docs).toContain(`| \`${table}\` | ${why} |`)
})

test('beyond all retentions a dump holds no planted person, and the money is the same', async () => {
  house = await open()
  const { context } = house
  house.add('contacts', {
    firstname: 'Quita',
    lastname: 'Zanders',
    email: 'quita@zanders.example',
    phone: '+493012345678',
    profnet_url: `https://www.profnet.com/in/${known}`,
  })
  const { runId } = (await house.sync('contacts')).summary
  const written = Object.values([...house.seen('contacts').values()][0]!).filter((value) => value.length > 8)
  await noteFromCli(context, 'forget', { target: 'quita@zanders.example' })
  const planted = ['quita', 'zanders', '+493012345678', ...written]
  expect(tracesIn(await dumpLedger(context), planted)).not.toEqual([])
  expect(await enforceRetention(context)).toBe(0)
  const money = async () => ({
    spend: await readSpend(context, 'run'),
    reconciled: { ...(await reconcile(context, house.wallet)), at: '' },
    summary: await context.runs.get(runId),
  })
  const before = await money()
  ahead = 800 * dayMs
  expect((await reportRetention(context)).rules.find(({ name }) => name === 'tasks')).toMatchObject({
    due: 1,
    erased: 0,
  })
  expect(await enforceRetention(context)).toBeGreaterThan(3)
  expect(tracesIn(await dumpLedger(context), planted)).toEqual([])
  const after = await money()
  expect(after.spend).toEqual(before.spend)
  expect(after.reconciled.difference).toBe(before.reconciled.difference)
  expect(after.reconciled.differences).toEqual(before.reconciled.differences)
  expect(await enforceRetention(context)).toBe(0)
  const report = await reportRetention(context)
  expect(report.rules.map(({ due }) => due)).toEqual(report.rules.map(() => 0))
  expect(report.erasures.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['tasks', 'lookups', 'runs', 'audit']),
  )
  const undone = await house.undo(runId)
  expect(undone.restored).toBe(0)
  expect(undone.rows[0]?.reason).toContain('retention.recordsDays')
})

test('a run that is parked and a charge in doubt are kept, however old', async () => {
  house = await open()
  const { context } = house
  house.add('contacts', { lastname: known, profnet_url: `https://www.profnet.com/in/${known}` })
  await house.sync('contacts')
  const { db } = context.database
  await db.updateTable('charges').set({ state: 'in_doubt' }).execute()
  ahead = 800 * dayMs
  await enforceRetention(context)
  expect((await db.selectFrom('tasks').select('erased_at').execute()).map((row) => row.erased_at)).toEqual([
    null,
  ])
  expect(await dumpLedger(context)).toContain(known)
  await db.updateTable('charges').set({ state: 'settled' }).execute()
  await db.updateTable('runs').set({ state: 'parked' }).execute()
  await enforceRetention(context)
  expect((await db.selectFrom('tasks').select('erased_at').execute()).map((row) => row.erased_at)).toEqual([
    null,
  ])
})
