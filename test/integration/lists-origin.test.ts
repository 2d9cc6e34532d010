import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { explain } from '../../src/app/records/explain.ts'
import { historyOf } from '../../src/app/records/history.ts'
import { describeRun } from '../../src/app/runs/run-detail.ts'
import { listRuns } from '../../src/app/runs/run-list.ts'
import { historyText } from '../../src/cli/records/history.ts'
import { runText } from '../../src/cli/runs/print-run.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sharedKinds } from './crm-worlds.ts'
import { nameOf, openListWorld, type ListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

test.each(sharedKinds)(
  'a made record shows its list, page, lookup and price, and its run counts what was made, in %s',
  async (kind) => {
    const websiteOf = { hubspot: 'domain', salesforce: 'Website' }[kind]
    world = await openListWorld(sandbox, kind)
    const rows = await world.fetch()
    await world.index()
    const { planId } = await world.plan()
    const domains = rows.map(({ values }) => String(values['domain']))
    world.add({ [nameOf[kind]]: 'By hand', [websiteOf]: domains[1]! })
    for (const name of ['One', 'Two']) world.add({ [nameOf[kind]]: name, [websiteOf]: domains[2]! })
    const { runId } = await world.apply(planId)
    const { context } = world

    const counts = { created: 3, exists: 1, ambiguous: 1 }
    const detail = await describeRun(context, runId)
    expect(detail.made).toEqual(counts)
    expect(runText(detail)).toMatch(/created +3\n +existed +1\n +ambiguous +1\n/)
    const listed = await listRuns(context, 5)
    expect(listed.find((run) => run.runId === runId)?.made).toEqual(counts)

    const [made] = (await world.made()).filter(({ state }) => state === 'created')
    const [page] = await world.transfers()
    const name = { connector: kind, object: 'company', id: made!.record_id! }
    const history = await historyOf(context, name)
    expect(history).toMatchObject({
      made: { run: runId, list: 'german', page: 1, lookup: rows[0]!.lookupKey, isArchived: false },
      tasks: [{ run: runId, kind: 'create', status: 'written' }],
    })
    expect(page).toBeDefined()
    expect(Number(history.made?.price)).toBeGreaterThan(0)
    expect(historyText(history)).toContain(`made of page 1 of the list german, `)
    expect(historyText(history)).toContain(`run ${runId}, from ${rows[0]!.lookupKey}`)
    const explained = await explain(context, world.connector, name, undefined)
    expect(explained.made).toEqual(history.made)

    await world.takeBack(runId)
    expect((await historyOf(context, name)).made).toMatchObject({ isArchived: true })
    expect((await describeRun(context, runId)).made).toEqual(counts)
    const [existing] = (await world.made()).filter(({ state }) => state === 'exists')
    const left = await historyOf(context, { ...name, id: existing!.record_id! })
    expect(left).toMatchObject({ tasks: [{ kind: 'create', status: 'unchanged' }] })
    expect(left.made).toBeUndefined()
  },
)
