import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createDeskLists, type DeskLists } from '../../src/app/web/lists/desk-lists.ts'
import type { ListAction } from '../../src/http/desk/model/lists/list-actions.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openBareDesk } from '../integration/desk-fixture.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld
let lists: DeskLists

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

async function open(limit = 60) {
  world = await openListWorld(sandbox, 'hubspot', { limit })
  world.context.connectors.set('hubspot', world.connector)
  lists = createDeskLists(world.context, new AbortController().signal)
}

/** Carries an action out, and returns what it told at its end. */
async function act(action: ListAction) {
  let figures: Record<string, number | string> | undefined
  expect(lists.start('german', action, 'otto', async (told) => void (figures = told))).toBe(true)
  expect(lists.start('german', action, 'otto', async () => {})).toBe(false)
  await lists.idle()
  return { figures, job: lists.job('german') }
}

test('a preview buys one page, a fetch the others within its budget, and pages show their rows', async () => {
  await open()
  expect(await lists.read('nothing')).toBeUndefined()
  expect(await lists.read('german')).toMatchObject({
    pages: 0,
    total: null,
    verdicts: {},
    spend: { settledAtomic: 0n },
  })
  expect(await lists.quote('german')).toMatchObject({ pageAtomic: 50_000n, pagesLeft: 3, hasFirst: false })

  expect(await act({ kind: 'preview', budgetAtomic: 50_000n })).toMatchObject({
    figures: { end: 'pages', bought: 1, rows: 25 },
    job: { by: 'otto', ended: { isDone: true } },
  })
  expect(await lists.quote('german')).toMatchObject({
    pagesLeft: 2,
    hasFirst: true,
    budgetAtomic: 5_000_000n,
  })
  expect((await act({ kind: 'fetch', budgetAtomic: 60_000n, reachableOnly: true })).figures).toMatchObject({
    end: 'budget',
    bought: 1,
  })
  expect((await act({ kind: 'fetch', budgetAtomic: 60_000n, reachableOnly: true })).figures).toMatchObject({
    end: 'complete',
    bought: 1,
  })
  expect(await lists.read('german')).toMatchObject({
    pages: 3,
    rows: 60,
    isComplete: true,
    verdicts: { new: 60 },
  })
  expect(await world.transfers()).toHaveLength(3)
  const pages = [1, 2, 3, 4].map(async (page) => lists.rows('german', { verdict: 'new', page }))
  expect(
    (await Promise.all(pages)).map((each) => [
      each?.page,
      each?.pages,
      each?.rows.map(({ ordinal }) => ordinal),
    ]),
  ).toEqual([
    [1, 3, Array.from({ length: 25 }, (_, at) => at + 1)],
    [2, 3, Array.from({ length: 25 }, (_, at) => at + 26)],
    [3, 3, Array.from({ length: 10 }, (_, at) => at + 51)],
    [3, 3, Array.from({ length: 10 }, (_, at) => at + 51)],
  ])
  expect(await lists.rows('german', { verdict: 'exists', page: 1 })).toMatchObject({ rows: [], pages: 1 })
  expect((await lists.history('german')).fetches).toMatchObject([
    { ending: 'complete', stored: 60, pages: 3 },
  ])
})

test('a plan is shown with its figures, and applying it makes its records once', async () => {
  await open(5)
  await world.fetch()
  await world.index()
  const planId = lists.newPlanId()
  expect((await act({ kind: 'plan', planId })).figures).toEqual({ creates: 5 })
  expect(await lists.plan('german', planId)).toMatchObject({
    list: 'german',
    figures: { creates: 5, verdicts: { new: 5 } },
    isDone: false,
    mostAtomic: 0n,
  })
  expect(await lists.plan('again', planId)).toBeUndefined()
  expect((await lists.plan('german', planId))?.first).toHaveLength(5)
  expect((await act({ kind: 'apply', planId })).figures).toMatchObject({ created: 5, end: 'finished' })
  expect(world.state().size).toBe(5)
  expect(await lists.plan('german', planId)).toMatchObject({
    isDone: true,
    runId: expect.any(String) as string,
  })
  expect(await lists.history('german')).toMatchObject({ runs: [{ state: 'finished', made: 5, exists: 0 }] })
  expect((await lists.read('german'))?.verdicts).toEqual({ exists: 5 })

  // Carried out already: the job says so, and nothing is made twice.
  const again = await act({ kind: 'apply', planId })
  expect(again.job?.ended).toMatchObject({
    isDone: false,
    text: expect.stringContaining('was carried out') as string,
  })
  expect(world.state().size).toBe(5)
})

test('rows that wait are shown with their records, and an answer counts at once', async () => {
  await open(5)
  const rows = await world.fetch()
  const id = world.add({ name: String(rows[0]?.values['company_name']) })
  await world.index()
  const waiting = await lists.waiting('german', 1)
  expect(waiting).toMatchObject({ total: 1, rows: [{ records: [{ recordId: id }] }], answers: [] })
  const { key } = waiting!.rows[0]!.row
  expect(waiting?.rows[0]?.records[0]?.known).not.toBe('')
  await lists.answer('german', { key, answer: 'same', record: id, shown: [id], by: 'otto' })
  expect(await lists.waiting('german', 1)).toMatchObject({
    total: 0,
    answers: [{ key, answer: 'same', recordId: id, isRecordThere: true, by: 'otto' }],
  })
  expect((await lists.read('german'))?.verdicts).toEqual({ exists: 1, new: 4 })
  await lists.forgetAnswer('german', key)
  expect(await lists.waiting('german', 1)).toMatchObject({ total: 1, answers: [] })
})

test('operators act on the pages, each action is audited, and viewers have no buttons', async () => {
  await open(5)
  const desk = await openBareDesk({ ports: { lists } })
  try {
    const [otto, vera] = [await desk.as('otto'), await desk.as('vera')]
    const page = async (who: typeof otto, path: string) => (await who.ask(path)).text()
    expect(await page(vera, '/lists')).toContain('href="/lists/german"')
    expect(await page(otto, '/lists/german')).toContain('Yes, buy page 1 for up to $0.05')
    expect(await page(vera, '/lists/german')).not.toMatch(/action="\/lists/)

    const begun = await otto.ask('/lists/german/preview', { form: { most: '0.05' } })
    expect(begun.headers.get('location')).toBe('/lists/german?done=started_here')
    await lists.idle()
    expect(await page(vera, '/lists/german')).toMatch(/Started by.*otto/s)
    expect((await otto.ask('/lists/german/fetch', { form: { budget: 'much' } })).status).toBe(400)
    expect((await otto.ask('/lists/german/fetch', { form: { budget: '1' } })).status).toBe(303)
    await lists.idle()

    const [first] = await world.fetch()
    const id = world.add({ name: String(first?.values['company_name']) })
    await world.index()
    const [row] = (await lists.rows('german', { verdict: 'possible', page: 1 }))!.rows
    const review = await page(otto, '/lists/german/review')
    expect(review).toContain(`aria-label="Same: record ${id}"`)
    expect(await page(vera, '/lists/german/review')).not.toMatch(/action="\/lists/)
    const answer = (form: Record<string, string>) =>
      otto.ask('/lists/german/review', { form: { key: row!.key, ...form } })
    expect((await answer({ same: 'none' })).status).toBe(409)
    expect((await answer({})).status).toBe(400)
    expect((await answer({ same: id, shown: id })).status).toBe(303)
    expect(await page(otto, '/lists/german?verdict=exists')).toContain('a person said that it is this record')
    expect((await otto.ask('/lists/german/review/forget', { form: { key: row!.key } })).status).toBe(303)
    await answer({ answer: 'new', shown: id })

    await otto.ask('/lists/german/plan', { form: {} })
    await lists.idle()
    const { planId = '' } = lists.job('german') ?? {}
    expect(await page(vera, `/lists/german/plans/${planId}`)).toContain('An operator can make them')
    expect(await page(otto, `/lists/german/plans/${planId}`)).toContain('Yes, make 5 records at no cost')
    // The cost that was shown is no longer that of the plan.
    const apply = (most: string) => otto.ask(`/lists/german/plans/${planId}/apply`, { form: { most } })
    expect((await apply('9')).status).toBe(409)
    expect((await apply('0')).status).toBe(303)
    await lists.idle()
    expect(world.state().size).toBe(6)

    const noted = (await desk.audit.list(30)).map(
      ({ actor, action, target }) => `${actor} ${action} ${target}`,
    )
    expect(noted.reverse().filter((each) => each.includes('list.'))).toEqual(
      [
        'preview',
        'ended',
        'fetch',
        'ended',
        'answer',
        'forget_answer',
        'answer',
        'plan',
        'ended',
        'apply',
        'ended',
      ].map((action) => `otto list.${action} german`),
    )
  } finally {
    await desk.close()
  }
})
