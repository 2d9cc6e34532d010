import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openConnector } from '../../src/app/context/connectors.ts'
import { runChampions } from '../../src/app/champions/run-champions.ts'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { forget } from '../../src/app/records/forget.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { undoMade } from '../../src/app/records/undo-made.ts'
import { undoNotes } from '../../src/app/notes/undo-notes.ts'
import { undoableRun } from '../../src/app/records/undo.ts'
import type { Member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { employerOf, known, openCareers, type Career } from '../integration/champions.fixture.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import {
  openCrmWorld,
  sharedKinds,
  type CrmKind,
  type CrmWorld,
  type Values,
} from '../integration/crm-worlds.ts'

let sandbox: Sandbox
let world: CrmWorld
let edge: Awaited<ReturnType<typeof openCareers>>
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  await world.close()
  edge.close()
})

const { signal } = new AbortController()
const at = new Date('2037-11-23T08:00:00Z')
const inCrm = {
  hubspot: {
    people: 'contacts',
    companies: 'companies',
    filter: 'lifecyclestage=customer',
    former: 'paydirt_former_record',
    relationship: 'paydirt_champion_relationship',
    title: 'jobtitle',
    person: ({ slug, firstName, lastName, employer }: Member): Values => ({
      firstname: firstName,
      lastname: lastName,
      email: `${slug}@${employer.domain}`,
      company: employer.name,
      profnet_url: `https://www.profnet.com/in/${slug}`,
    }),
    customer: { lifecyclestage: 'customer' } as Values,
    company: (name: string, domain: string): Values => ({ name, domain }),
  },
  salesforce: {
    people: 'Contact',
    companies: 'Account',
    filter: 'LeadSource=Web',
    former: 'Paydirt_Former_Record__c',
    relationship: 'Paydirt_Champion_Relationship__c',
    title: 'Title',
    person: ({ slug, firstName, lastName, employer }: Member): Values => ({
      FirstName: firstName,
      LastName: lastName,
      Email: `${slug}@${employer.domain}`,
      Profnet_URL__c: `https://www.profnet.com/in/${slug}`,
    }),
    customer: { LeadSource: 'Web' } as Values,
    company: (name: string, domain: string): Values => ({ Name: name, Website: `https://www.${domain}` }),
  },
} as const

async function open(
  kind: CrmKind,
  people: readonly Member[],
  careers: ReadonlyMap<string, Career>,
  onJoin: object,
) {
  const of = inCrm[kind]
  edge = await openCareers(sandbox, people, careers)
  const champions = {
    customers: { connector: kind, filter: of.filter, relationship: 'Former customer', onJoin },
  }
  const payment = { maxPricesUsd: { 'contact.redeem:email-work': '0.15' } }
  world = await openCrmWorld(
    { ...sandbox, serviceUrl: edge.url },
    kind,
    of.people,
    { champions, payment } as never,
    { now: () => at },
  )
  return new Map(people.map((person) => [person.slug, world.add({ ...of.person(person), ...of.customer })]))
}

async function index(): Promise<void> {
  for (const entity of Object.keys(world.connector.entities))
    await indexRecords(world.context, world.connector, entity, { rebuild: true, signal })
}

const run = () => runChampions(world.context, 'customers', { budgetAtomic: 20_000_000n, signal })
const joinedOf = async () =>
  new Map(
    (await world.context.database.db.selectFrom('champions').selectAll().execute()).map((row) => [
      row.record_id,
      row.joined,
    ]),
  )

describe.each(sharedKinds)('champions at their new employers, in %s', (kind) => {
  const of = inCrm[kind]

  test('have one record each, tied to the company, unless they have one there; undo takes it back', async () => {
    const people = known(5, kind === 'hubspot' ? 4_000 : 4_500)
    const [fresh, known1, there, stays, left] = people as [Member, Member, Member, Member, Member]
    const careers = new Map<string, Career>([
      [fresh.slug, 'moved'],
      [known1.slug, 'moved'],
      [there.slug, 'moved'],
      [left.slug, 'left'],
    ])
    const ids = await open(kind, people, careers, {
      note: true,
      task: { title: 'Say hello', dueDays: 2 },
    })
    // The company of one is in the CRM, and one stands at the new employer already.
    const company = employerOf(known1)
    const account = world.addTo(of.companies, of.company(company.name, company.domain))
    const own = world.add(of.person({ ...there, employer: { ...there.employer, ...employerOf(there) } }))
    await index()
    const before = world.ids()
    const stood = world.state()
    const first = await run()
    expect(first).toMatchObject({
      end: 'complete',
      problems: [],
      joined: { made: 2, there: 1, unclear: 0, left: {}, waiting: undefined },
      noted: { notes: 3, tasks: 3, waiting: 0, problems: [] },
    })
    const made = world.ids().filter((id) => !before.includes(id))
    expect(made).toHaveLength(2)
    const joined = await joinedOf()
    expect(joined.get(ids.get(there.slug)!)).toEqual({ state: 'there', recordId: own })
    expect(joined.get(ids.get(stays.slug)!)).toBeNull()
    expect(joined.get(ids.get(left.slug)!)).toBeNull()
    for (const person of [fresh, known1]) {
      const old = ids.get(person.slug)!
      const record = joined.get(old) as { state: string; recordId: string }
      expect(record.state).toBe('made')
      const values = world.state().get(record.recordId)!
      expect(values).toMatchObject({
        [of.former]: old,
        [of.relationship]: 'Former customer',
        [of.title]: 'Head of Buying',
      })
      expect(String(Object.values(values))).toContain(`/in/${person.slug}`)
      const [tied, ...more] = world.companiesOf(record.recordId)
      expect(more).toEqual([])
      const [at0] = [world.of(of.companies).state().get(tied!)!]
      expect(String(Object.values(at0))).toContain(employerOf(person).domain)
      if (person === known1) expect(tied).toBe(account)
      // The record of before is left as it is, but for the day.
      const { ...now } = world.state().get(old)!
      for (const [name, value] of Object.entries(stood.get(old)!))
        if (!/paydirt|date|modstamp|notes|num_/i.test(name)) expect([name, now[name]]).toEqual([name, value])
    }
    expect(new Set(world.markers()).size).toBe(6)

    // A repeat buys and makes nothing.
    const paid = (await world.transfers()).length
    expect(await run()).toMatchObject({
      bought: 0,
      joined: { made: 0, there: 0 },
      noted: { notes: 0, tasks: 0 },
    })
    expect((await world.transfers()).length).toBe(paid)
    expect(world.ids().filter((id) => !before.includes(id))).toHaveLength(2)

    // One undo takes back records, companies, notes and tasks.
    const [runId] = first.joined!.runIds
    const undone = await undoableRun(world.context, runId!)
    // As `paydirt undo` does: this one has read the fields after the run had added its own.
    const connector = await openConnector(world.context.config, kind, undefined)
    await undoNotes(world.context, connector, runId!, { plan: false, signal })
    await undoMade(world.context, connector, undone!, { plan: false, signal })
    await connector.close()
    expect(world.ids().filter((id) => !before.includes(id))).toEqual([])
    expect(world.of(of.companies).ids()).toContain(account)
    expect(await run()).toMatchObject({ joined: { made: 0 } })
    expect(world.ids().filter((id) => !before.includes(id))).toEqual([])
  })

  test('a champion who is forgotten leaves no trace, and the record at the new employer is named', async () => {
    const people = known(3, 1_800)
    const [moved, other] = people as [Member, Member, Member]
    const careers = new Map<string, Career>(
      people.map(({ slug }) => [slug, slug === other.slug ? 'left' : 'moved']),
    )
    const ids = await open(kind, people, careers, { note: true })
    await index()
    expect(await run()).toMatchObject({ joined: { made: 2 }, problems: [] })
    const joined = (await joinedOf()).get(ids.get(moved.slug)!) as { recordId: string }
    const named = readIdentifiers({ profile_url: [`https://www.profnet.com/in/${moved.slug}`] })
    const { inCrms } = await forget(world.context, named, { suppress: false })
    const records = inCrms.map(({ id }) => id)
    expect(records).toEqual(expect.arrayContaining([ids.get(moved.slug), joined.recordId]))
    const dump = await dumpLedger(world.context)
    expect(tracesIn(dump, [moved.slug])).toEqual([])
    expect(tracesIn(dump, [other.slug])).not.toEqual([])
    expect((await joinedOf()).size).toBe(2)
  })
})
