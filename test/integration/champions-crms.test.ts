import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { runChampions } from '../../src/app/champions/run-champions.ts'
import { undoNotes } from '../../src/app/notes/undo-notes.ts'
import type { Member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { employerOf, known, openCareers, type Career } from './champions.fixture.ts'
import { openCrmWorld, type CrmKind, type CrmWorld } from './crm-worlds.ts'

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
    entity: 'contacts',
    companies: 'companies',
    left: 'paydirt_left_company_at',
    filter: 'lifecyclestage=customer',
    owner: 'hubspot_owner_id',
  },
  salesforce: {
    entity: 'Contact',
    companies: 'Account',
    left: 'Paydirt_Left_Company_At__c',
    filter: 'LeadSource=Web',
    owner: 'OwnerId',
  },
} as const

/** Values that a person has typed in, in the words of the CRM. */
function typedIn(kind: CrmKind, { slug, firstName, lastName, employer }: Member, accountId: string) {
  const email = `${slug}@${employer.domain}`
  return kind === 'hubspot'
    ? {
        firstname: firstName,
        lastname: lastName,
        email,
        company: employer.name,
        lifecyclestage: 'customer',
        profnet_url: `https://www.profnet.com/in/${slug}`,
      }
    : {
        FirstName: firstName,
        LastName: lastName,
        Email: email,
        AccountId: accountId,
        LeadSource: 'Web',
        Profnet_URL__c: `https://www.profnet.com/in/${slug}`,
      }
}

async function open(kind: CrmKind, people: readonly Member[], careers: ReadonlyMap<string, Career>) {
  const of = inCrm[kind]
  edge = await openCareers(sandbox, people, careers)
  const champions = {
    customers: {
      connector: kind,
      filter: of.filter,
      onLeave: { note: true, task: { title: 'Your champion has left', dueDays: 2 } },
    },
  }
  world = await openCrmWorld({ ...sandbox, serviceUrl: edge.url }, kind, of.entity, { champions } as never, {
    now: () => at,
  })
  return new Map(
    people.map((person) => {
      const account = kind === 'salesforce' ? world.addTo(of.companies, { Name: person.employer.name }) : ''
      return [
        person.slug,
        world.add({ ...typedIn(kind, person, account), [of.owner]: world.owners[0] }),
      ] as const
    }),
  )
}

// champions.test.ts has HubSpot at the short size.
const kinds = (['salesforce', 'hubspot'] as const).slice(0, sized(2, 1))

describe.each(kinds)('champions in %s', (kind) => {
  const { left } = inCrm[kind]
  const run = () => runChampions(world.context, 'customers', { budgetAtomic: 20_000_000n, signal })

  test('who has left is marked once, with a note and a task, and nothing else of the record changes', async () => {
    const count = sized(40, 8)
    const people = known(count, kind === 'hubspot' ? 3_000 : 2_000)
    const cycle: Career[] = [
      'moved',
      'left',
      'unclear',
      'stays',
      'promoted',
      'named otherwise',
      'renamed',
      'stays',
    ]
    const careers = new Map(people.map(({ slug }, place) => [slug, cycle[place % cycle.length]!]))
    const ids = await open(kind, people, careers)
    const before = world.state()
    const first = await run()
    const gone = people.filter(({ slug }) => ['moved', 'left'].includes(careers.get(slug)!))
    expect(first).toMatchObject({
      end: 'complete',
      checked: count,
      problems: [],
      records: { written: gone.length },
      noted: { notes: gone.length, tasks: gone.length, waiting: 0, problems: [] },
    })
    const rows = await world.context.database.db.selectFrom('champions').selectAll().execute()
    const verdicts = new Map(rows.map((row) => [row.record_id, row]))
    for (const person of people) {
      const id = ids.get(person.slug)!
      const career = careers.get(person.slug)!
      // A first check knows no name and no title of before, and a record's domain alone tells no profile.
      const wanted = ['named otherwise', 'promoted', 'renamed'].includes(career) ? 'stays' : career
      expect([person.slug, verdicts.get(id)?.verdict]).toEqual([person.slug, wanted])
      expect(verdicts.get(id)?.employer?.domain ?? null).toBe(
        career === 'moved' ? employerOf(person).domain : null,
      )
      const { [left]: day, ...rest } = world.state().get(id)!
      expect([person.slug, day ?? '']).toEqual([person.slug, gone.includes(person) ? '2037-11-23' : ''])
      expect(others(rest)).toEqual(others(before.get(id)!))
    }
    const markers = world.markers()
    expect(new Set(markers).size).toBe(gone.length * 2)
    expect(markers).toHaveLength(gone.length * 2)

    // A repeat buys, writes and notes nothing.
    const paid = (await world.transfers()).length
    expect(paid).toBe(edge.asked.size)
    expect(await run()).toMatchObject({ due: 0, bought: 0, records: { runId: undefined } })
    expect((await world.transfers()).length).toBe(paid)
    expect(world.markers()).toHaveLength(gone.length * 2)

    // A value taken back stays so, though the ledger goes on knowing that they have left.
    const { runId } = first.records!
    await undoNotes(world.context, world.connector, runId!, { plan: false, signal })
    await world.undo(runId!)
    const marked = () => people.filter(({ slug }) => world.state().get(ids.get(slug)!)?.[left] !== undefined)
    expect({ marked: marked().length, markers: world.markers().length }).toEqual({ marked: 0, markers: 0 })
    expect(await run()).toMatchObject({ bought: 0, noted: { notes: 0, tasks: 0 } })
    expect({ marked: marked().length, markers: world.markers().length }).toEqual({ marked: 0, markers: 0 })
  })
})

/** Without our own fields and stamps of change. */
function others(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name]) => !/paydirt/i.test(name) && !/date|modstamp/i.test(name) && !/^(num_notes|notes_)/.test(name),
    ),
  )
}
