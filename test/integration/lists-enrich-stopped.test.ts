import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { stopOneRun } from '../../src/app/runs/stop-run.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openListWorld, type ListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

test('a person who stops the run of a plan stops the lookups for its rows too', async () => {
  world = await openListWorld(sandbox, 'hubspot', {
    entity: 'contacts',
    limit: 60,
    into: { associate: false },
    list: { search: 'people.search', filters: { people_titles: ['Head'] }, recipe: 'contact' },
  })
  await world.fetch()
  await world.index()
  const { planId } = await world.plan()
  const { context } = world
  let stopping: Promise<void> | undefined
  const stop = async () => {
    const run = (await context.runs.list(10)).find(({ fingerprint }) => fingerprint === `plan|${planId}`)
    await stopOneRun(context, run!.id, { by: 'a person', reason: 'too dear' })
  }
  const applied = await world.apply(planId, { onLookups: () => void (stopping ??= stop()) })
  await stopping
  expect(applied).toMatchObject({ end: 'interrupted', created: 0 })
  expect(applied.reason).toBe('the run was stopped')
  expect(await context.runs.get(applied.enrichment!.runId)).toMatchObject({ state: 'stopped' })
  await expect(world.apply(planId)).rejects.toMatchObject({ code: 'run_stopped' })
})
