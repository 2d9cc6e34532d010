import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openConnector } from '../../src/app/context/connectors.ts'
import { createDeskUndo } from '../../src/app/web/desk-undo.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { crmKinds, sharedKinds } from '../integration/crm-worlds.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

const constantOf = {
  hubspot: { name: 'lifecyclestage', value: 'lead', wrong: 'no such stage', readOnly: 'hs_object_id' },
  salesforce: { name: 'Description', value: 'Met at a fair', wrong: undefined, readOnly: 'CreatedDate' },
} as const

describe.each(crmKinds)('constants of a list in %s', (kind) => {
  test('are written into every record, and a wrong one is refused by the plan', async () => {
    const { name, value, wrong, readOnly } = constantOf[kind]
    world = await openListWorld(sandbox, kind, { into: { set: { [name]: value } } })
    await world.fetch()
    await world.index()
    const plan = await world.plan()
    expect(plan.first[0]?.properties).toMatchObject({ [name]: value })
    expect(await world.apply(plan.planId)).toMatchObject({ created: 5 })
    expect([...world.state().values()].map((values) => values[name])).toEqual(
      Array.from({ length: 5 }, () => value),
    )
    const { into } = world.context.config.lists['german']!
    for (const [set, fault] of [
      [{ no_such_property: 'x' }, /has no property no_such_property/],
      [{ [readOnly]: 'x' }, /cannot be written/],
      ...(wrong === undefined ? [] : [[{ [name]: wrong }, new RegExp(name)] as const]),
    ] as const) {
      Object.assign(into, { set })
      await expect(world.plan()).rejects.toThrow(fault)
    }
  })
})

test('no contact of HubSpot is made a marketing contact, and no constant can ask for it', async () => {
  world = await openListWorld(sandbox, 'hubspot', {
    entity: 'contacts',
    limit: 3,
    list: { search: 'people.search', filters: { people_titles: ['Head'] } },
  })
  await world.fetch()
  await world.index()
  const { planId, creates } = await world.plan()
  expect(await world.apply(planId)).toMatchObject({ created: creates })
  const written = world.wire.log.filter(({ path }) => path.includes('/batch/upsert'))
  expect(written.length).toBeGreaterThan(0)
  expect(JSON.stringify(written.map(({ body }) => body))).not.toContain('hs_marketable_status')
  expect([...world.state().values()].map((values) => values['hs_marketable_status'])).toEqual(
    Array.from({ length: creates }, () => undefined),
  )
  Object.assign(world.context.config.lists['german']!.into, { set: { hs_marketable_status: 'true' } })
  await expect(world.plan()).rejects.toThrow(/hs_marketable_status cannot be written/)
})

test('rows without a field that the CRM demands are incomplete before anything is made; a constant fills it', async () => {
  world = await openListWorld(sandbox, 'salesforce', { limit: 3 })
  world.requireField?.('Region__c')
  // The fields were described before; the next command describes them anew.
  Object.assign(world.connector, await openConnector(world.context.config, 'salesforce', undefined))
  await world.fetch()
  await world.index()
  expect(await world.plan()).toMatchObject({ creates: 0, verdicts: { incomplete: 3 } })
  Object.assign(world.context.config.lists['german']!.into, { set: { Region__c: 'DACH' } })
  const plan = await world.plan()
  expect(plan.creates).toBe(3)
  expect(await world.apply(plan.planId)).toMatchObject({ created: 3, rejected: 0 })
})

test.each(sharedKinds)('the desk sends an undo of records to the command line, in %s', async (kind) => {
  world = await openListWorld(sandbox, kind, { limit: 3 })
  await world.fetch()
  await world.index()
  const { runId } = await world.apply((await world.plan()).planId)
  const desk = createDeskUndo(world.context, new AbortController().signal)
  await expect(desk.plan(runId)).rejects.toThrow(`paydirt undo ${runId}`)
  expect(desk.start(runId, 'otto', async () => {})).toBe(true)
  await desk.idle()
  expect(desk.job(runId)?.ended).toMatchObject({ problem: expect.stringContaining('has made records') })
  expect(world.ids()).toHaveLength(3)
})
