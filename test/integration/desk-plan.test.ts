import { describe, expect, test } from 'vitest'
import { openSyncPlans } from '../../src/app/web/sync-plans.ts'
import type { PlannedSync, SyncPlan } from '../../src/http/desk/model/sync-plan.ts'
import { startPlannedRun } from '../../src/store/plans/start-plan.ts'
import { createAuditLog } from '../../src/store/access/audit.ts'
import { clock, company, house, open, scheduler, turns, until, useSchedules } from './schedules.fixture.ts'

useSchedules()

const wanted: PlannedSync = { connector: 'hubspot', entity: 'companies', recipe: 'profile', limit: 3 }

const by = { actor: 'otto', role: 'operator' }

function desk() {
  house.context.connectors.set('hubspot', house.connector)
  return openSyncPlans(house.context, new AbortController().signal)
}

async function made(plans: ReturnType<typeof desk>, planned = wanted): Promise<SyncPlan> {
  const { planId } = await plans.make(planned)
  await plans.idle()
  const plan = await plans.read(planId)
  if (!plan) throw new Error('there is no plan')
  return plan
}

const recordsOf = async (runId: string) =>
  (await house.context.tasks.page(runId, 0, 100)).map(({ recordId, reason }) =>
    reason === null ? recordId : `${recordId}: ${reason}`,
  )

const charges = async () => house.context.database.db.selectFrom('charges').selectAll().execute()

async function scanned(): Promise<void> {
  await (await scheduler()).look()
  await until(async () => expect((await turns()).at(-1)).toMatchObject({ state: 'handed_over' }))
}

describe('a sync that is planned on the desk', () => {
  test('begins nothing, and says what it would cost', async () => {
    await open({})
    const ids = ['alpha', 'beta', 'gamma', 'delta'].map((name) => house.add('companies', company(name)))
    const plan = await made(desk())
    expect(plan).toMatchObject({
      ...wanted,
      records: 3,
      runId: undefined,
      problem: undefined,
      figures: {
        records: 3,
        lookups: { toBuy: 3 },
        cost: { low: '0.030000', high: '0.030000' },
        begins: true,
      },
    })
    expect(
      plan.sample.map(({ recordId, changes, lookupKey }) => [recordId, changes, lookupKey !== null]),
    ).toEqual(ids.slice(0, 3).map((id) => [id, null, true]))
    expect(await house.context.runs.list(10)).toEqual([])
    expect(await turns()).toEqual([])
    expect(await charges()).toEqual([])
  })

  test('has one run however often it is started, with the records of the plan and no others', async () => {
    await open({})
    const ids = ['alpha', 'beta', 'gamma'].map((name) => house.add('companies', company(name)))
    const plans = desk()
    const { id } = await made(plans)
    house.add('companies', company('later'))
    const starts = await Promise.all([plans.start(id, by), plans.start(id, by), plans.start(id, by)])
    expect(new Set(starts.map(({ runId }) => runId)).size).toBe(1)
    expect(starts.filter(({ isNew }) => isNew)).toHaveLength(1)
    await scanned()
    const [first] = starts
    expect(await recordsOf(first?.runId ?? '')).toEqual(ids)
    expect(await plans.start(id, by)).toEqual({ runId: first?.runId, isNew: false })
    expect(await turns()).toHaveLength(1)
    const noted = await createAuditLog(house.context.database.db, house.context).list(10)
    expect(noted).toMatchObject([
      { ...by, action: 'sync.start', details: { plan: id, run: first?.runId, recipe: 'profile', limit: 3 } },
    ])
    expect((await plans.read(id))?.runId).toBe(first?.runId)
    const budgets = await house.context.database.db
      .selectFrom('budgets')
      .selectAll()
      .orderBy('scope')
      .execute()
    expect(budgets).toEqual([
      { scope: `credits:run:${first?.runId}`, committed_atomic: 0n, cap_atomic: 3_000_000n },
      { scope: `run:${first?.runId}`, committed_atomic: 0n, cap_atomic: 30_000n },
    ])
    expect(await house.context.runs.get(first?.runId ?? '')).toMatchObject({
      recipe: 'profile',
      entity: 'companies',
      source: { plan: id, limit: 3 },
    })
  })

  test('is followed by what came after it: what changed in between is neither bought unseen nor lost', async () => {
    await open({})
    const [alpha = '', beta = '', gamma = '', delta = ''] = ['alpha', 'beta', 'gamma', 'delta'].map((name) =>
      house.add('companies', company(name)),
    )
    const plans = desk()
    const schedules = await scheduler()
    async function read(id: string): Promise<string[]> {
      const { runId } = await plans.start(id, by)
      await schedules.look()
      await until(async () => expect((await turns()).at(-1)).toMatchObject({ state: 'handed_over' }))
      const records = await recordsOf(runId)
      await house.context.runs.setState(runId, 'finished')
      return records
    }
    const first = await made(plans)
    house.edit('companies', beta, { profnet_url: company('another').profnet_url })
    const later = house.add('companies', company('later'))
    expect(await read(first.id)).toEqual([alpha, `${beta}: changed since the plan`, gamma])
    const second = await made(plans, { ...wanted, limit: undefined })
    expect(await read(second.id)).toEqual([delta, later])
    const third = await made(plans, { ...wanted, limit: undefined })
    expect(third.sample.map(({ recordId }) => recordId)).toContain(beta)
  })

  test('that is cut off while it begins has begun nothing, and can be started', async () => {
    await open({})
    house.add('companies', company('alpha'))
    const plans = desk()
    const { id } = await made(plans)
    const { db } = house.context.database
    const run = { connector: 'hubspot', object: 'company', entity: 'companies', recipe: 'profile' } as const
    /** Throws when the time is asked for the `last`th time, in the middle of the transaction. */
    async function startUntil(last: number): Promise<boolean> {
      let times = 0
      const now = () => {
        if ((times += 1) === last) throw new Error('killed')
        return clock.now
      }
      const begun = startPlannedRun(db, id, { ...run, id: `cut-${last}`, source: {}, limit: 3 }, by, { now })
      return begun.then(
        () => true,
        () => false,
      )
    }
    let last = 1
    for (; !(await startUntil(last)); last += 1) {
      expect(await house.context.runs.list(10)).toEqual([])
      expect(await turns()).toEqual([])
      expect(await createAuditLog(db, house.context).list(10)).toEqual([])
    }
    expect(last).toBeGreaterThan(3)
    expect(await plans.start(id, by)).toEqual({ runId: `cut-${last}`, isNew: false })
    expect(await turns()).toHaveLength(1)
    expect(await house.context.runs.list(10)).toHaveLength(1)
  })

  test('asks again after an hour, and when the rules have changed', async () => {
    await open({})
    house.add('companies', company('alpha'))
    const plans = desk()
    const old = await made(plans)
    clock.now = new Date(clock.now.getTime() + 3_600_001)
    await expect(plans.start(old.id, by)).rejects.toThrow(/more than an hour ago. Make a new plan/)
    const fresh = await made(plans)
    Object.assign(house.context.config, { policies: { description: 'never' } })
    await expect(plans.start(fresh.id, by)).rejects.toThrow(/the policies have changed since/)
    expect(await turns()).toEqual([])
  })

  test('says why it could not be planned', async () => {
    await open({})
    house.hubspot.auth.revokeAccessToken()
    const plan = await made(desk())
    expect(plan.figures).toBeUndefined()
    expect(plan.problem).toMatch(/token/i)
  })

  test('is planned once for the same question, and not too many at a time', async () => {
    await open({})
    house.add('companies', company('alpha'))
    const plans = desk()
    const [one, same] = await Promise.all([plans.make(wanted), plans.make(wanted)])
    expect(same).toEqual(one)
    const others = [1, 2, 4].map((limit) => plans.make({ ...wanted, limit }).catch(String))
    expect((await Promise.all(others)).filter((each) => String(each).includes('wait until'))).not.toEqual([])
    await plans.idle()
  })
})
