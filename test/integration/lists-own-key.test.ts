import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openListWorld, type ListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

test('a record that has our key from another ledger, and was edited past recognition, stays as it is', async () => {
  world = await openListWorld(sandbox, 'hubspot')
  await world.fetch()
  await world.index()
  const { planId, creates } = await world.plan()
  await world.connector.ensureFields('companies', { dryRun: false, forCreating: true })
  const [planned] = await world.planned()
  const there = world.add({ name: 'Edited', city: 'Edited', paydirt_key: planned!.record_id })
  const before = world.state().get(there)
  expect(await world.apply(planId)).toMatchObject({ created: creates - 1, exists: 1, end: 'finished' })
  expect(world.state().get(there)).toEqual(before)
  const made = await world.made()
  expect(made.find(({ state }) => state === 'exists')).toMatchObject({ record_id: there })
})
