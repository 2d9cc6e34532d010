import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { resumeOneRun, stopOneRun } from '../../src/app/runs/stop-run.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse
beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox, { config: { pacing: { startPerSecond: 8, maxPerSecond: 8 } } })
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

test('a sync that is stopped in the middle buys nothing more, keeps what arrives, and ends with nothing bought twice', async () => {
  const { context } = house
  const { db } = context.database
  const companies = Array.from(
    { length: 30 },
    (_, index) => `https://www.profnet.com/company/midway-${index}`,
  )
  for (const [index, url] of companies.entries())
    house.add('companies', { name: `midway ${index}`, profnet_url: url })
  const charges = () => db.selectFrom('charges').selectAll().execute()

  const syncing = house.sync('companies')
  await expect.poll(async () => (await charges()).length, { timeout: 20_000 }).toBeGreaterThan(3)
  const [open] = await context.runs.list(1)
  const id = open?.id ?? ''
  await stopOneRun(context, id, { by: 'otto', reason: 'wrong mapping' })
  const sentBefore = new Set(
    (await charges()).filter(({ state }) => state !== 'journaled').map((it) => it.id),
  )
  const { end, summary } = await syncing
  expect(end).toBe('parked')
  expect(summary.tasks.parked).toBeGreaterThan(10)
  expect(summary.tasks.parked + summary.tasks.written + summary.tasks.unchanged).toBe(30)
  const after = await charges()
  for (const { id: charge, state } of after) {
    if (state !== 'journaled') expect(sentBefore, `${charge} is ${state}`).toContain(charge)
    if (sentBefore.has(charge)) expect(state).toBe('settled')
  }
  // A paid profile whose logo is still to come is written all the same.
  const unwritten = await db
    .selectFrom('tasks')
    .select('record_id')
    .where('run_id', '=', id)
    .where('status', '=', 'parked')
    .where(sql<boolean>`steps != '{}'`)
    .execute()
  expect(unwritten).toEqual([])
  const reasons = await context.tasks.reasons(id)
  expect(reasons.find(({ status }) => status === 'parked')?.reason).toBe('stopped by otto: wrong mapping')
  await expect(house.sync('companies')).rejects.toMatchObject({ code: 'run_stopped' })
  expect(await charges()).toHaveLength(after.length)

  expect(await resumeOneRun(context, id)).toBe('workers')
  const resumed = await house.sync('companies')
  expect(resumed.summary).toMatchObject({ runId: id, records: 30, tasks: { parked: 0 } })
  const settled = (await charges()).filter(({ state }) => state === 'settled')
  expect(new Set(settled.map(({ lookup_key: key }) => key)).size).toBe(settled.length)
  expect(settled).toHaveLength(30)
  const moved = await house.transfers()
  expect(moved).toHaveLength(30)
})
