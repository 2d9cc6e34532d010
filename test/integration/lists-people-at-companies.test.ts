import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { people } from '../../src/sandbox/world/people.ts'
import { sharedKinds } from './crm-worlds.ts'
import { openListWorld, type ListWorld } from './lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

/** Companies at which several people can be found. */
const staffed = [...Map.groupBy(people(), ({ employer }) => employer.domain).values()]
  .filter((colleagues) => colleagues.length >= 3)
  .slice(0, 2)
  .map(([one]) => one!.employer.domain)
const inCrm = {
  hubspot: { entity: 'contacts', companies: 'companies', website: 'domain' },
  salesforce: { entity: 'Contact', companies: 'Account', website: 'Website' },
} as const

test.each(sharedKinds)('people found at companies become records of %s, tied to these', async (kind) => {
  const { entity, companies, website } = inCrm[kind]
  world = await openListWorld(sandbox, kind, {
    entity,
    limit: 10,
    list: { search: 'company.search', filters: { domains: staffed }, people: { perCompany: 2 } },
  })
  const rows = await world.fetch()
  expect(rows).toHaveLength(2 * staffed.length)
  await world.index()
  const plan = await world.plan()
  expect(plan).toMatchObject({ creates: rows.length, association: { creates: staffed.length } })
  expect(await world.apply(plan.planId)).toMatchObject({ created: rows.length, end: 'finished' })
  const made = world.of(companies).state()
  expect([...made.values()].map((values) => String(values[website])).sort()).toEqual([...staffed].sort())
  const perCompany = Map.groupBy(world.ids(), (id) => world.companiesOf(id)[0])
  expect([...perCompany.keys()].sort()).toEqual([...made.keys()].sort())
  expect([...perCompany.values()].map((ids) => ids.length)).toEqual(staffed.map(() => 2))
})
