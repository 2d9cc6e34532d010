import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { championsReport } from '../../src/app/champions/champions-report.ts'
import { planChampions } from '../../src/app/champions/plan-champions.ts'
import { runChampions } from '../../src/app/champions/run-champions.ts'
import { makeReady } from '../../src/app/runs/sync.ts'
import { setSpending } from '../../src/app/money/spend-switch.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import type { Member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { employerOf, known, openCareers, type Career } from '../integration/champions.fixture.ts'
import { openCrmHouse, quick, type CrmHouse } from '../integration/crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse
let edge: Awaited<ReturnType<typeof openCareers>>
let at: Date
const careers = new Map<string, Career>()
const dayMs = 86_400_000
const { signal } = new AbortController()

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  careers.clear()
  await house.close()
  edge.close()
})

/** The service, with careers that go on, in front of a HubSpot account with people who bought once. */
async function open(people: readonly Member[], more: object = {}): Promise<Map<string, string>> {
  at = new Date('2037-11-23T08:00:00Z')
  edge = await openCareers(sandbox, people, careers)
  house = await openCrmHouse(sandbox, {
    config: {
      connectors: quick,
      champions: { customers: { connector: 'hubspot', filter: 'lifecyclestage=customer', ...more } },
    } as never,
    env: { PAYDIRT_SERVICE_URL: edge.url },
    overrides: { now: () => at },
  })
  await makeReady(house.connector, ['contacts'])
  return new Map(
    people.map(({ slug, firstName, lastName, employer }) => [
      slug,
      house.add('contacts', {
        firstname: firstName,
        lastname: lastName,
        email: `${slug}@${employer.domain}`,
        company: employer.name,
        lifecyclestage: 'customer',
        profnet_url: `https://www.profnet.com/in/${slug}`,
      }),
    ]),
  )
}

const run = (budgetUsd = 60) =>
  runChampions(house.context, 'customers', { budgetAtomic: BigInt(budgetUsd * 1e6), signal })
const transfers = async () => (await sandbox.transfersFrom(house.wallet)).length
const leftAt = (id: string) => house.hubspot.store.get('contacts', id)?.properties['paydirt_left_company_at']

test('those who have moved are told from those who stay, are promoted, or whose employer has another name', async () => {
  const count = sized(160, 16)
  const people = known(count)
  const ids = await open(people)
  const first = await run()
  expect(first).toMatchObject({ end: 'complete', due: count, checked: count, left: 0, problems: [] })
  expect(first.verdicts['moved'] ?? 0).toBe(0)
  expect(first.verdicts['left'] ?? 0).toBe(0)

  // The shares are those of a year and more: 12 % moved, 4 % with a renamed employer, 3 % unclear.
  const shares: [Career, number][] = [
    ['moved', 12],
    ['renamed', 4],
    ['unclear', 3],
    ['left', 5],
    ['promoted', 6],
    ['named otherwise', 5],
  ]
  let from = 0
  for (const [career, percent] of shares) {
    const size = Math.ceil((count * percent) / 100)
    for (const { slug } of people.slice(from, from + size)) careers.set(slug, career)
    from += size
  }
  at = new Date(at.getTime() + 31 * dayMs)
  expect(await planChampions(house.context, 'customers', { signal })).toMatchObject({ due: count, moved: 0 })
  const second = await run()
  expect(second).toMatchObject({ end: 'complete', checked: count, problems: [] })

  const wanted = { 'named otherwise': 'stays' } as Record<string, string>
  const report = await championsReport(house.context, 'customers')
  const rows = await house.context.database.db.selectFrom('champions').selectAll().execute()
  const byRecord = new Map(rows.map((row) => [row.record_id, row]))
  const day = at.toISOString().slice(0, 10)
  for (const person of people) {
    const career = careers.get(person.slug) ?? 'stays'
    const id = ids.get(person.slug)!
    const row = byRecord.get(id)
    expect([person.slug, row?.verdict]).toEqual([person.slug, wanted[career] ?? career])
    const isGone = career === 'moved' || career === 'left'
    expect([person.slug, leftAt(id) ?? '']).toEqual([person.slug, isGone ? day : ''])
    expect(house.hubspot.store.get('contacts', id)?.properties['company']).toBe(person.employer.name)
    expect(row?.employer?.domain ?? null).toBe(career === 'moved' ? employerOf(person).domain : null)
  }
  expect(report.left).toHaveLength(
    [...careers.values()].filter((each) => each === 'moved' || each === 'left').length,
  )

  // A repeat within the days costs nothing and writes nothing.
  const paid = await transfers()
  const third = await run()
  expect(third).toMatchObject({ due: 0, checked: 0, bought: 0, records: { runId: undefined } })
  expect(await transfers()).toBe(paid)
  expect(paid).toBe((await house.nonces()).length)

  // Undo takes back what was written.
  await house.undo(second.records?.runId ?? '')
  for (const id of ids.values()) expect(leftAt(id) ?? '').toBe('')
})

test('a first check says moved only where the record names an employer of before', async () => {
  const people = known(4, 700)
  const [moved, elsewhere] = people as [Member, Member]
  const ids = await open(people)
  careers.set(moved.slug, 'moved')
  // A record whose domain was never an employer of the person.
  house.edit('contacts', ids.get(elsewhere.slug)!, { email: 'somebody@another-domain.example' })
  const first = await run()
  const rows = await house.context.database.db.selectFrom('champions').selectAll().execute()
  const verdict = (slug: string) => rows.find((row) => row.record_id === ids.get(slug))?.verdict
  expect([verdict(moved.slug), verdict(elsewhere.slug)]).toEqual(['moved', 'unclear'])
  expect(first.verdicts['moved']).toBe(1)
})

test('one who is back has what we wrote cleared; one who has moved is not looked up again', async () => {
  const people = known(3, 900)
  const [back, gone] = people as [Member, Member]
  const ids = await open(people)
  careers.set(back.slug, 'left').set(gone.slug, 'moved')
  await run()
  expect(leftAt(ids.get(back.slug)!)).toBe('2037-11-23')
  careers.delete(back.slug)
  at = new Date(at.getTime() + 31 * dayMs)
  const second = await run()
  expect(second).toMatchObject({ due: 2, checked: 2 })
  expect(leftAt(ids.get(back.slug)!) ?? '').toBe('')
  expect(leftAt(ids.get(gone.slug)!)).toBe('2037-11-23')
})

test('a note and a task come once a departure', async () => {
  const people = known(2, 1_100)
  const [gone] = people as [Member]
  await open(people, { onLeave: { note: true, task: { title: 'Your champion has left', dueDays: 2 } } })
  careers.set(gone.slug, 'moved')
  const first = await run()
  expect(first.noted).toMatchObject({ notes: 1, tasks: 1, waiting: 0, problems: [] })
  at = new Date(at.getTime() + 31 * dayMs)
  expect((await run()).noted).toMatchObject({ notes: 0, tasks: 0 })
})

test('a budget, the cap of the month and the kill switch end it; the same command goes on', async () => {
  const people = known(6, 1_300)
  await open(people, { budgetMonthUsd: '0.06' })
  const first = await run(0.03)
  expect(first).toMatchObject({ end: 'budget', checked: 1, left: 5 })
  const second = await run()
  expect(second).toMatchObject({ end: 'budget', resumesAt: new Date('2037-12-01T00:00:00Z') })
  expect(second.reason).toContain('champions.customers.budgetMonthUsd')
  at = new Date('2037-12-01T00:00:01Z')
  await setSpending(house.context, 'stop')
  expect(await run()).toMatchObject({ end: 'parked', bought: 0 })
  await setSpending(house.context, 'resume')
  expect(await run()).toMatchObject({ end: 'complete', left: 0 })
  expect(await transfers()).toBe((await house.nonces()).length)
})

test('a person who is suppressed is not looked up, and a forgotten one is not kept', async () => {
  const people = known(3, 1_500)
  const [hidden] = people as [Member]
  await open(people)
  await house.context.suppressions.add(
    readIdentifiers({ profile_url: [`https://www.profnet.com/in/${hidden.slug}`] }),
  )
  expect(await run()).toMatchObject({ suppressed: 1, due: 2, checked: 2 })
})
