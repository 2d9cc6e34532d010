import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { answerRow, forgetAnswer, type AnswerOptions } from '../../src/app/lists/review/answer-row.ts'
import { waitingRows } from '../../src/app/lists/review/waiting-rows.ts'
import { forget, planForget } from '../../src/app/records/forget.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { allJudged } from '../support/list-rows.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

async function judged(name = 'german') {
  const calls = await world.calls(name)
  const rows = await allJudged(world.context, calls)
  return { rows, waiting: await waitingRows(world.context, calls.settings, rows) }
}

const answer = (key: string, options: Omit<AnswerOptions, 'key' | 'by'>, list = 'german') =>
  answerRow(world.context, list, { key, by: 'otto', ...options })

const verdictsOf = async (name?: string) => (await judged(name)).rows.map(({ verdict }) => verdict)

/** Five rows, of which the first three have the name of a record. */
async function openWaiting() {
  world = await openListWorld(sandbox, 'hubspot')
  const rows = await world.fetch()
  const names = rows.map(({ values }) => String(values['company_name']))
  const records = names.slice(0, 3).map((name) => world.add({ name }))
  await world.index()
  const { waiting } = await judged()
  expect(waiting.map((each) => each.records.map(({ recordId }) => recordId))).toEqual(
    records.map((id) => [id]),
  )
  return { rows, names, records, keys: waiting.map(({ key }) => key) }
}

test('answers decide, hold in another list, and are taken back', async () => {
  const { records, keys } = await openWaiting()
  const [first = '', second = '', third = ''] = keys
  expect(await answer(first, { answer: 'same', record: `companies:${records[0]}` })).toMatchObject({
    verdict: 'exists',
    record: records[0],
  })
  expect(await answer(second, { answer: 'new' })).toMatchObject({ verdict: 'new' })
  expect(await answer(third, { answer: 'never' })).toMatchObject({ verdict: 'excluded' })
  await world.fetch('again')
  for (const name of ['german', 'again'])
    expect(await verdictsOf(name)).toEqual(['exists', 'new', 'excluded', 'new', 'new'])

  expect(await answer(second, { answer: 'never' })).toMatchObject({ verdict: 'excluded' })
  await forgetAnswer(world.context, 'again', second)
  expect((await verdictsOf())[1]).toBe('possible')
  await expect(forgetAnswer(world.context, 'german', second)).rejects.toThrow(/no answer/)
})

test('a plan makes the records that a person called new, and a later record takes the answer back', async () => {
  const { rows, names, keys } = await openWaiting()
  await answer(keys[0]!, { answer: 'new' })
  await answer(keys[1]!, { answer: 'new' })
  const plan = await world.plan()
  expect(plan).toMatchObject({ creates: 4, verdicts: { new: 4, possible: 1 } })
  // Between the plan and its application somebody makes one of them.
  world.add({ name: 'Made by hand', domain: String(rows[1]?.values['domain']) })
  expect(await world.apply(plan.planId)).toMatchObject({ created: 3, exists: 1, end: 'finished' })
  const made = [...world.state().values()].filter(({ name }) => name === names[0])
  expect(made).toHaveLength(2)
})

test('a record that was not shown makes the row wait again', async () => {
  const { names, keys } = await openWaiting()
  await answer(keys[0]!, { answer: 'new', shown: [] })
  expect((await verdictsOf())[0]).toBe('possible')
  await answer(keys[0]!, { answer: 'new' })
  expect((await verdictsOf())[0]).toBe('new')
  world.add({ name: names[0]! })
  await world.index()
  expect((await verdictsOf())[0]).toBe('possible')
})

test('a company beside another of its domain is made when a person says so', async () => {
  const { rows, keys } = await openWaiting()
  const own = String(rows[0]?.values['profnet_url'])
  const other = world.add({
    name: 'Other',
    domain: String(rows[0]?.values['domain']),
    profnet_url: `${own}-labs`,
  })
  await world.index()
  expect((await verdictsOf())[0]).toBe('ambiguous')
  expect(await answer(keys[0]!, { answer: 'new' })).toMatchObject({ verdict: 'new' })
  const plan = await world.plan()
  expect(await world.apply(plan.planId)).toMatchObject({ exists: 0, left: 0, end: 'finished' })
  expect(world.state().get(other)).toMatchObject({ name: 'Other' })
  // The next list finds the one that was made, and not the other.
  await world.fetch('again')
  expect((await judged('again')).rows[0]?.verdict).toBe('exists')
})

test('answers that cannot hold are refused', async () => {
  const { rows, keys } = await openWaiting()
  await expect(answer('nothing', { answer: 'never' })).rejects.toThrow(/no row nothing of german/)
  await expect(answer(keys[0]!, { answer: 'same', record: '999' })).rejects.toThrow(/no record companies:999/)
  await expect(answer(keys[0]!, { answer: 'same' })).rejects.toThrow(/no record/)
  world.add({ profnet_url: String(rows[0]?.values['profnet_url']) })
  await world.index()
  await expect(answer(keys[0]!, { answer: 'new' })).rejects.toThrow(/is not new: the same profile/)
})

test('a record that is gone makes its row wait again', async () => {
  const { records, keys } = await openWaiting()
  await answer(keys[0]!, { answer: 'same', record: records[0] })
  await world.context.recordIndex.drop('hubspot', 'companies', [records[0]!])
  expect((await judged()).rows[0]).toMatchObject({ verdict: 'ambiguous', records: [] })
})

test('forget erases the answers about a subject', async () => {
  const { rows, records, keys } = await openWaiting()
  await answer(keys[0]!, { answer: 'never' })
  await answer(keys[1]!, { answer: 'same', record: records[0] })
  await answer(keys[2]!, { answer: 'never' })
  const identifiers = [{ kind: 'domain', value: String(rows[0]?.values['domain']), isCompany: true }] as const
  await world.context.recordIndex.add('hubspot', 'companies', [
    { id: records[0]!, object: 'company', identity: { domain: String(rows[0]?.values['domain']) } } as never,
  ])
  expect((await planForget(world.context, identifiers, { suppress: false })).erased.listReviews).toBe(2)
  const { erased } = await forget(world.context, identifiers, { suppress: false })
  expect(erased.listReviews).toBe(2)
  const left = await world.context.database.db.selectFrom('list_reviews').select('key').execute()
  expect(left).toEqual([{ key: keys[2] }])
  expect(
    await world.context.database.db.selectFrom('list_review_names').selectAll().execute(),
  ).not.toHaveLength(0)
})

test('a person may be a lead beside the contacts that a list makes', async () => {
  world = await openListWorld(sandbox, 'salesforce', {
    entity: 'Contact',
    list: { search: 'people.search', filters: { people_titles: ['Head'] } },
  })
  const [row] = await world.fetch()
  const { first_name: firstName, last_name: lastName } = row!.values
  const lead = '00Q000000000001EAA'
  const named = { id: lead, object: 'person', identity: { firstName, lastName }, values: {} } as never
  await world.context.recordIndex.add('salesforce', 'Lead', [named])
  const [waiting] = (await judged()).waiting
  expect(waiting).toMatchObject({ records: [{ entity: 'Lead', recordId: lead, known: [{ kind: 'name' }] }] })
  expect(await answer(waiting!.key, { answer: 'same', record: `Lead:${lead}` })).toMatchObject({
    verdict: 'exists',
    record: lead,
  })
  expect((await judged()).rows[0]).toMatchObject({ records: [{ entity: 'Lead', recordId: lead }] })
})
