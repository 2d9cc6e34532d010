import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { RecordMaker } from '../../src/connectors/creating.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sharedKinds, type CrmKind } from '../integration/crm-worlds.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

const people = { search: 'people.search', filters: { people_titles: ['Head'] } }
const slug = (url: unknown): string => String(url).split('/').at(-1)!
const inCrm = {
  hubspot: {
    entity: 'contacts',
    companies: 'companies',
    name: 'name',
    website: 'domain',
    email: 'email',
    profile: 'profnet_url',
    last: 'lastname',
    title: 'jobtitle',
    owner: 'hubspot_owner_id',
  },
  salesforce: {
    entity: 'Contact',
    companies: 'Account',
    name: 'Name',
    website: 'Website',
    email: 'Email',
    profile: 'Profnet_URL__c',
    last: 'LastName',
    title: 'Title',
    owner: 'OwnerId',
  },
} as const

function stageOf(kind: CrmKind) {
  const names = inCrm[kind]
  const open = (into: Record<string, unknown> = {}, limit = 6) =>
    openListWorld(sandbox, kind, { entity: names.entity, limit, into, list: people })
  const domainOf = (row: { values: Readonly<Record<string, unknown>> } | undefined) =>
    String(row?.values['company_domain'])
  const withMaker = (change: (maker: RecordMaker) => Partial<RecordMaker>) => ({
    ...world.connector,
    maker: { ...world.connector.maker!, ...change(world.connector.maker!) },
  })
  return { names, open, domainOf, withMaker }
}

describe.each(sharedKinds)('people of a list in %s', (kind) => {
  const { names, open, domainOf, withMaker } = stageOf(kind)

  test('are tied to their company, which is found or made first, and undo takes back both', async () => {
    world = await open({ set: { [names.title]: 'Met at a fair' } })
    const rows = await world.fetch()
    const domains = new Set(rows.map(domainOf))
    const there = world
      .of(names.companies)
      .add({ [names.name]: 'Old name', [names.website]: domainOf(rows[0]) })
    await world.index()
    const atFirst = rows.filter((row) => domainOf(row) === domainOf(rows[0])).length
    const plan = await world.plan()
    expect(plan).toMatchObject({
      creates: rows.length,
      refusals: [],
      association: {
        entity: names.companies,
        existing: atFirst,
        made: rows.length - atFirst,
        creates: domains.size - 1,
        none: {},
      },
      owners: [{ owner: null, records: rows.length }],
    })
    expect(plan.first[0]).toMatchObject({
      company: there,
      properties: { [names.last]: rows[0]?.values['last_name'] },
    })

    const applied = await world.apply(plan.planId)
    expect(applied).toMatchObject({
      created: rows.length,
      end: 'finished',
      waiting: 0,
      companies: { entity: names.companies, created: domains.size - 1, exists: 0, rejected: 0, left: 0 },
    })
    const companies = world.of(names.companies).state()
    expect(companies.size).toBe(domains.size)
    for (const [id, values] of world.state()) {
      const row = rows.find((each) => slug(each.values['profnet_url']) === slug(values[names.profile]))
      expect(values).toMatchObject({ [names.title]: 'Met at a fair' })
      const [tied = '', ...others] = world.companiesOf(id)
      expect(others).toEqual([])
      expect(String(companies.get(tied)?.[names.website])).toContain(domainOf(row))
    }
    expect(await world.context.runs.get(applied.runId)).toMatchObject({
      records: rows.length,
      state: 'finished',
    })

    // The same list again makes nothing.
    await world.fetch('again')
    expect(await world.plan('again')).toMatchObject({ creates: 0, verdicts: { exists: rows.length } })

    // An edited person stays, and so does the company that was made for that person.
    const edited = world.ids().find((id) => !world.companiesOf(id).includes(there))!
    const [home = ''] = world.companiesOf(edited)
    world.edit(edited, { [names.last]: 'Edited' })
    const wouldLeave = await world.takeBack(applied.runId, true)
    expect(wouldLeave).toMatchObject({ left: 2, archived: rows.length - 1 + domains.size - 2 })
    const undone = await world.takeBack(applied.runId)
    expect(undone).toMatchObject({ left: 2, archived: rows.length - 1 + domains.size - 2 })
    expect(undone.rows.map(({ record, entity }) => [record, entity])).toEqual([
      [edited, names.entity],
      [home, names.companies],
    ])
    expect(undone.rows[1]?.reason).toBe('tied since to 1 contacts')
    expect(world.ids()).toEqual([edited])
    expect(world.of(names.companies).ids().sort()).toEqual([there, home].sort())
  })

  test('who are made before a process ends are tied by the next one, and once', async () => {
    world = await open()
    const rows = await world.fetch()
    await world.index()
    const { planId } = await world.plan()
    const isPeople = (entity: string) => entity === names.entity
    // The people are made without their tie, and the process ends before it knows of them.
    const killed = withMaker((maker) => ({
      async create(entity, drafts) {
        if (!isPeople(entity)) return maker.create(entity, drafts)
        await maker.create(
          entity,
          drafts.map((draft) => ({ ...draft, companyId: undefined })),
        )
        throw new Error('the process is gone')
      },
    }))
    await expect(world.apply(planId, { connector: killed })).rejects.toThrow('the process is gone')
    expect(world.ids()).toHaveLength(rows.length)
    expect(world.ids().flatMap((id) => world.companiesOf(id))).toEqual([])
    const companies = world.of(names.companies).ids().length
    let ties = 0
    const again = withMaker((maker) => ({
      associate(...given) {
        ties += given[2].length
        return maker.associate(...given)
      },
    }))
    expect(await world.apply(planId, { connector: again })).toMatchObject({
      created: rows.length,
      end: 'finished',
    })
    expect(ties).toBe(rows.length)
    for (const id of world.ids()) expect(world.companiesOf(id)).toHaveLength(1)
    expect(world.ids()).toHaveLength(rows.length)
    expect(world.of(names.companies).ids()).toHaveLength(companies)
  })
})

describe.each(sharedKinds)('people of a list in %s, in short', (kind) => {
  const { names, open, domainOf, withMaker } = stageOf(kind)

  test('stay without a company where `associate` says so, or where the CRM has none', async () => {
    world = await open({ associate: 'existing' }, 3)
    const rows = await world.fetch()
    await world.index()
    const plan = await world.plan()
    expect(plan.association).toMatchObject({
      existing: 0,
      made: 0,
      creates: 0,
      none: { 'its company is not in the CRM': rows.length },
    })
    expect(await world.apply(plan.planId)).toMatchObject({ created: rows.length, companies: null })
    expect(world.of(names.companies).ids()).toEqual([])
  })

  test('get owners in turn, the same in every repeat, and none who has left', async () => {
    world = await open()
    const [one, two, former] = world.owners
    const into = world.context.config.lists['german']!.into
    const rows = await world.fetch()
    await world.index()
    for (const [owner, fault] of [
      [former, /cannot own records any more/],
      [{ roundRobin: [one, '404'] }, /has no owner 404/],
    ] as const) {
      Object.assign(into, { owner })
      await expect(world.plan()).rejects.toThrow(fault)
    }
    Object.assign(into, { owner: { roundRobin: [one, two] } })
    const plan = await world.plan()
    expect(plan.owners.map(({ owner, records }) => [owner, records])).toEqual([
      [one, 3],
      [two, 3],
    ])
    expect(plan.owners.every(({ name }) => name !== null)).toBe(true)
    // A process ends between the two halves: each record has the owner of its place all the same.
    let calls = 0
    const broken = {
      ...withMaker((maker) => ({
        perCreate: 2,
        async create(entity, drafts) {
          if (entity === names.entity && (calls += 1) === 2) throw new Error('the process is gone')
          return maker.create(entity, drafts)
        },
      })),
    }
    await expect(world.apply(plan.planId, { connector: broken })).rejects.toThrow('the process is gone')
    expect(await world.apply(plan.planId)).toMatchObject({ created: rows.length })
    const ownerOf = new Map(
      [...world.state().values()].map((each) => [slug(each[names.profile]), each[names.owner]]),
    )
    expect(rows.map(({ values }) => ownerOf.get(slug(values['profnet_url'])))).toEqual(
      rows.map((_, at) => (at % 2 === 0 ? one : two)),
    )
  })

  test('get the owner of their company, where that one is there', async () => {
    world = await open({ owner: { fromCompany: true } }, 4)
    const [, two, former] = world.owners
    const rows = await world.fetch()
    const domains = [...new Set(rows.map(domainOf))]
    const owners = [two, former]
    domains.slice(0, 2).forEach((domain, at) =>
      world.of(names.companies).add({
        [names.name]: `Company ${at}`,
        [names.website]: domain,
        [names.owner]: String(owners[at]),
      }),
    )
    await world.index()
    const plan = await world.plan()
    const wanted = rows.filter((row) => domainOf(row) === domains[0]).length
    expect(plan.owners.find(({ owner }) => owner === two)).toMatchObject({ records: wanted })
    expect(plan.owners.find(({ owner }) => owner === null)).toMatchObject({ records: rows.length - wanted })
    await world.apply(plan.planId)
    const owned = [...world.state().values()].filter((values) => values[names.owner] === two)
    expect(owned).toHaveLength(wanted)
    expect([...world.state().values()].filter((values) => values[names.owner] === former)).toEqual([])
  })
})

test('a person who is a lead is no new contact, and a lead needs a company', async () => {
  world = await openListWorld(sandbox, 'salesforce', { entity: 'Contact', limit: 4, list: people })
  const rows = await world.fetch()
  const lead = world.of('Lead').add({
    LastName: String(rows[0]?.values['last_name']),
    Company: 'Elsewhere',
    Profnet_URL__c: String(rows[0]?.values['profnet_url']),
  })
  await world.index()
  const plan = await world.plan()
  expect(plan).toMatchObject({ creates: 3, verdicts: { new: 3, exists: 1 } })
  // A lead that appears after the plan is met as well, and named.
  const late = world.of('Lead').add({
    LastName: String(rows[1]?.values['last_name']),
    Company: 'Elsewhere',
    Profnet_URL__c: String(rows[1]?.values['profnet_url']),
  })
  expect(await world.apply(plan.planId)).toMatchObject({ created: 2, exists: 1 })
  const ended = (await world.made()).find(({ state, entity }) => state === 'exists' && entity === 'Contact')
  expect(ended).toMatchObject({ record_id: null, reason: `exists: the same profile as Lead ${late}` })
  expect(world.of('Lead').ids()).toEqual([lead, late])
})

test('leads are made with the name of their company, and tied to no account', async () => {
  world = await openListWorld(sandbox, 'salesforce', { entity: 'Lead', limit: 4, list: people })
  const rows = await world.fetch()
  world.of('Contact').add({
    LastName: String(rows[0]?.values['last_name']),
    Profnet_URL__c: String(rows[0]?.values['profnet_url']),
  })
  await world.index()
  const plan = await world.plan()
  expect(plan).toMatchObject({ creates: 3, verdicts: { new: 3, exists: 1 }, association: null })
  expect(await world.apply(plan.planId)).toMatchObject({ created: 3, companies: null })
  const made = [...world.state().values()]
  expect(made.map((values) => [values['LastName'], values['Company']]).sort()).toEqual(
    rows
      .slice(1)
      .map(({ values }) => [values['last_name'], values['company_name']])
      .sort(),
  )
  expect(world.of('Account').ids()).toEqual([])
})
