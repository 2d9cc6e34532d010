import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { explain } from '../../src/app/records/explain.ts'
import { newPlanId } from '../../src/app/context/new-id.ts'
import { planText, totalText, type RunPlan } from '../../src/app/plans/plan-text.ts'
import { parseUsd } from '../../src/domain/money.ts'
import { makeReady, planSync } from '../../src/app/runs/sync.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { applyIn } from '../integration/plan-apply.fixture.ts'
import { openCrmHouse, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const signal = new AbortController().signal
const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 60 }, (_, index) => `plan-co-${index}`).filter(
  (name) => companyAnswer(urlOf(name)).data?.description,
)

function fill(count: number, from = 0): string[] {
  return known
    .slice(from, from + count)
    .map((name) => house.add('companies', { name, profnet_url: urlOf(name) }))
}

async function planned() {
  await makeReady(house.connector, ['companies'])
  const id = newPlanId(house.context)
  const job = { entity: 'companies', filter: [] }
  return planSync(house.context, house.connector, job, signal, id)
}

/** As the command does: the plan's bounds are in the settings before anything opens. */
const apply = (id: string, out?: string) => applyIn(house, id, out)

const usd = (count: number) => (count / 100).toFixed(6)

describe('a plan of a sync', () => {
  test('does not promise again what was put back by undo, and writes it no more than it promises', async () => {
    house = await openCrmHouse(sandbox)
    const [undone = ''] = fill(1)
    const { summary } = await house.sync('companies')
    await house.undo(summary.runId)
    // Known to the ledger by the same answer, and nothing was ever put back there.
    const [other = ''] = fill(1)
    const before = house.seen('companies').get(undone)
    const plan = await planned()
    expect(plan).toMatchObject({ records: 2, lookups: { toBuy: 0 }, preview: { records: 1 } })
    expect(plan.preview?.rows.map(({ record }) => record)).toEqual([other])
    expect(plan.preview?.fields['description']).toBe(1)
    const applied = await apply(plan.planId ?? '')
    expect(applied).toMatchObject({ summary: { tasks: { written: 1, unchanged: 1 } } })
    expect(house.seen('companies').get(undone)).toEqual(before)
  })

  test('promises the fields that the run writes, and no others; so does the explanation of each record', async () => {
    house = await openCrmHouse(sandbox)
    fill(4)
    await house.sync('companies')
    // Known by the same answers. Parts of an address are not written beside those of another.
    const places = [{ city: 'Nowhere-on-Sea' }, { zip: '00000' }, {}, { industry: 'PAPER_FOREST_PRODUCTS' }]
    const ids = places.map((place, index) =>
      house.add('companies', { name: 'Twin', profnet_url: urlOf(known[index] ?? ''), ...place }),
    )
    const plan = await planned()
    expect(plan.lookups.toBuy).toBe(0)
    const explained = await Promise.all(
      ids.map((id) =>
        explain(house.context, house.connector, { connector: 'hubspot', object: 'company', id }, undefined),
      ),
    )
    const promised = Object.fromEntries(
      (plan.preview?.rows ?? []).map(({ record, fields }) => [record, Object.keys(fields).sort()]),
    )
    const { summary } = await apply(plan.planId ?? '')
    const tasks = await house.context.database.db
      .selectFrom('tasks')
      .select(['record_id', 'patch'])
      .where('run_id', '=', summary.runId)
      .where('status', '=', 'written')
      .execute()
    const written = Object.fromEntries(
      tasks.map(({ record_id: id, patch }) => [id, Object.keys(patch ?? {}).sort()]),
    )
    expect(Object.keys(written).sort()).toEqual([...ids].sort())
    expect(promised).toEqual(written)
    expect(written[ids[0] ?? '']).not.toContain('postal_code')
    ids.forEach((id, index) => {
      const named = /\((.*)\)/
        .exec(explained[index]?.next ?? '')?.[1]
        ?.split(', ')
        .sort()
      expect(named).toEqual(written[id])
    })
  })

  test('counts each record that was read once, with the reason where nothing is done', async () => {
    house = await openCrmHouse(sandbox)
    fill(2)
    await house.sync('companies')
    const [twin = ''] = [0].map((index) =>
      house.add('companies', { name: 'Twin', profnet_url: urlOf(known[index] ?? '') }),
    )
    fill(2, 2)
    house.add('companies', { name: 'nothing to go by' })
    // Full already, of what is known: nothing to do.
    const full = house.seen('companies').get([...house.seen('companies').keys()][0] ?? '') ?? {}
    house.add('companies', full as Record<string, string>)
    const plan = await planned()
    const { outcomes, reasons = [] } = plan
    expect(Object.values(outcomes).reduce((sum, count) => sum + count, 0)).toBe(plan.records)
    expect(outcomes).toMatchObject({ lookUp: 2, skipped: 1, rejected: 0, write: plan.preview?.records })
    expect(outcomes.unchanged).toBeGreaterThan(0)
    for (const status of ['unchanged', 'skipped', 'rejected'] as const)
      expect(
        reasons.filter((each) => each.status === status).reduce((sum, { count }) => sum + count, 0),
      ).toBe(outcomes[status])
    expect(plan.preview?.rows.map(({ record }) => record)).toContain(twin)
    expect(planText(plan)).toContain(
      `${plan.records} records: 2 to look up, ${outcomes.write} to fill from known answers, ${outcomes.unchanged} with nothing to do, 1 skipped\n`,
    )
  })

  test('of several objects shares the budget of the day in their order, and has the cost of all', async () => {
    house = await openCrmHouse(sandbox, { env: { PAYDIRT_BUDGET_DAY_USD: '0.25' } })
    for (let index = 0; index < 20; index += 1) {
      house.add('companies', { name: 'x', profnet_url: urlOf(`shares-${index}`) })
      house.add('contacts', { firstname: 'x', profnet_url: `https://www.profnet.com/in/shares-${index}` })
    }
    await makeReady(house.connector, ['companies', 'contacts'])
    const plans: RunPlan[] = []
    for (const entity of ['companies', 'contacts']) {
      const planned = plans.reduce((sum, { cost }) => sum + parseUsd(cost.high), 0n)
      const job = { entity, filter: [] }
      plans.push(
        await planSync(house.context, house.connector, job, signal, newPlanId(house.context), planned),
      )
    }
    expect(plans.map(({ cost }) => cost.high)).toEqual(['0.200000', '0.050000'])
    expect(plans[1]?.limits.find(({ name }) => name === 'day')).toMatchObject({
      left: '0.050000',
      stops: true,
    })
    expect(totalText(plans)).toMatch(
      /^all 2 together: .*0\.250000 USD at most.*; without .*0\.400000 USD at most/,
    )
  })

  test('says why records are not looked up, with the first of them', async () => {
    house = await openCrmHouse(sandbox)
    fill(1)
    const id = house.add('companies', { name: 'nothing to go by' })
    const plan = await planned()
    expect(plan).toMatchObject({
      tasks: { skipped: 1 },
      reasons: [{ status: 'skipped', count: 1, first: id }],
    })
    expect(planText(plan)).toMatch(
      new RegExp(`1 skipped, at no cost\\n {4}1 skipped: no profile URL .*\\(record ${id}\\)\\n`),
    )
  })

  test('is carried out exactly: its records, its lookups, to the cent', async () => {
    house = await openCrmHouse(sandbox)
    const ids = fill(5)
    const plan = await planned()
    expect(plan).toMatchObject({
      plan: true,
      records: 5,
      lookups: { unique: 5, cached: 0, duplicates: 0, toBuy: 5 },
      cost: { currency: 'USD', low: usd(5), high: usd(5) },
    })
    // New since: another day's work.
    const [later = ''] = fill(1, 5)
    expect(await house.transfers()).toEqual([])
    const applied = await apply(plan.planId ?? '')
    expect(applied).toMatchObject({
      end: 'finished',
      drifted: 0,
      summary: { records: 5, tasks: { written: 5 } },
    })
    expect(applied.summary.spend.settled).toBe(usd(5))
    expect(await house.transfers()).toHaveLength(5)
    // The budget holds the plan's cost, so that a run continued after an interruption has the same cap.
    const budget = await house.context.database.db
      .selectFrom('budgets')
      .select(['committed_atomic', 'cap_atomic'])
      .where('scope', '=', `run:${applied.summary.runId}`)
      .executeTakeFirst()
    expect(budget).toEqual({ committed_atomic: 50_000n, cap_atomic: 50_000n })
    for (const id of ids) expect(house.seen('companies').get(id)?.['description']).toBeTruthy()
    expect(house.seen('companies').get(later)?.['description']).toBeUndefined()
    await expect(apply(plan.planId ?? '')).rejects.toMatchObject({ code: 'plan_applied' })

    // Records outside the plan are found by the next sync, and those in it are not bought again.
    const { summary } = await house.sync('companies', (inner) => inner, { since: new Date(0) })
    expect(summary.lookups.paid).toBe(1)
  })

  test('leaves out a record that has changed since, and says how many', async () => {
    house = await openCrmHouse(sandbox)
    const [changed = '', edited = '', gone = ''] = fill(4)
    const plan = await planned()
    house.edit('companies', changed, { profnet_url: urlOf('somebody-else') })
    // Values that do not identify a record may change: it is the writing that looks at them.
    house.edit('companies', edited, { description: 'by hand' })
    house.hubspot.store.archive('companies', gone)
    const applied = await apply(plan.planId ?? '')
    expect(applied).toMatchObject({ end: 'finished', drifted: 2 })
    expect(applied.summary).toMatchObject({ lookups: { paid: 2 }, tasks: { written: 2, rejected: 1 } })
    expect(await house.transfers()).toHaveLength(2)
    expect(house.seen('companies').get(changed)?.['description']).toBeUndefined()
    expect(house.seen('companies').get(edited)?.['description']).toBe('by hand')
  })

  test('shows field by field what the ledger knows already, and exactly that is written for nothing', async () => {
    house = await openCrmHouse(sandbox)
    fill(2)
    const { summary } = await house.sync('companies')
    await house.undo(summary.runId)
    const job = { entity: 'companies', filter: [], since: new Date(0) }
    const again = fill(2)
    const id = newPlanId(house.context)
    const plan = await planSync(house.context, house.connector, job, signal, id)
    expect(plan).toMatchObject({ lookups: { toBuy: 0 }, cost: { low: usd(0), high: usd(0) } })
    const before = house.seen('companies')
    const rows = plan.preview?.rows.filter(({ record }) => again.includes(record)) ?? []
    expect(rows).toHaveLength(2)
    const applied = await apply(id)
    expect(applied.summary).toMatchObject({ lookups: { paid: 0 } })
    const written = await house.context.database.db
      .selectFrom('field_writes')
      .select(['record_id', 'field', 'new_value'])
      .where('run_id', '=', applied.summary.runId)
      .where('record_id', 'in', again)
      .where('state', '=', 'written')
      .execute()
    const asPlanned = rows.flatMap(({ record, fields }) =>
      Object.entries(fields).map(([field, { from, to }]) => ({ record, field, from, to })),
    )
    expect(asPlanned.every(({ from }) => from === null)).toBe(true)
    const line = (record: string, field: string, value: unknown) => `${record} ${field} ${String(value)}`
    expect(written.map((row) => line(row.record_id, row.field, row.new_value)).sort()).toEqual(
      asPlanned.map(({ record, field, to }) => line(record, field, to)).sort(),
    )
    expect(written.length).toBeGreaterThan(10)
    expect(house.seen('companies')).not.toEqual(before)
  })

  test('is refused when the policies have changed, and pays no more than it says when prices rise', async () => {
    house = await openCrmHouse(sandbox)
    fill(3)
    const plan = await planned()
    const { config } = house.context
    Object.assign(config, { policies: { default: 'overwrite' } })
    await expect(apply(plan.planId ?? '')).rejects.toMatchObject({ code: 'plan_drifted' })
    Object.assign(config, { policies: {} })
    Object.assign(config, { policy: { ...config.policy, maxPriceAtomic: 1_000_000n } })
    sandbox.faults.set({ prices: { profile: 2 } })
    const applied = await apply(plan.planId ?? '').finally(() => sandbox.faults.reset())
    expect(applied.summary.lookups.paid).toBe(0)
    expect(await house.transfers()).toEqual([])
  })
})
