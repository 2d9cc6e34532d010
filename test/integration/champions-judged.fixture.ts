import { expect } from 'vitest'
import { runChampions } from '../../src/app/champions/run-champions.ts'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { makeReady } from '../../src/app/runs/sync.ts'
import type { Member } from '../../src/sandbox/data/directory.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { judgeChampions, type JudgedChampions } from '../support/champions-judge.ts'
import { employerOf, known, openCareers, type Career } from './champions.fixture.ts'
import { openCrmHouse, quick } from './crm-house.ts'

const dayMs = 86_400_000
/** In hundredths of the people: 12 have moved, 5 more have and stand there already, 4 have employers of another name, 3 are unclear. */
const shares: [Career, number, 'there'?][] = [
  ['moved', 9],
  ['moved, after another position', 3],
  ['moved', 5, 'there'],
  ['renamed', 4],
  ['unclear', 3],
  ['left', 4],
  ['promoted', 6],
  ['named otherwise', 5],
  ['stays, written otherwise', 5],
]

/**
 * Has so many champions checked twice, their careers going on between, and holds every verdict and record against an independent script.
 * Returns the numbers of it.
 */
export async function judgeWorld(sandbox: Sandbox, count: number, from: number) {
  const { signal } = new AbortController()
  let at = new Date('2037-11-23T08:00:00Z')
  const people = known(count, from)
  const careers = new Map<string, Career>()
  const edge = await openCareers(sandbox, people, careers)
  const house = await openCrmHouse(sandbox, {
    config: {
      connectors: quick,
      pacing: { startPerSecond: 300 },
      champions: {
        customers: { connector: 'hubspot', filter: 'lifecyclestage=customer', onJoin: {} } as never,
      },
    },
    env: { PAYDIRT_SERVICE_URL: edge.url },
    overrides: { now: () => at },
  })
  try {
    await sandbox.fund(house.wallet, 100_000_000n)
    await makeReady(house.connector, ['contacts'])
    const { store } = house.hubspot
    const ids = new Map(
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
    const index = async () => {
      for (const entity of ['companies', 'contacts'])
        await indexRecords(house.context, house.connector, entity, { rebuild: true, signal })
    }
    await index()
    const run = () => runChampions(house.context, 'customers', { budgetAtomic: 90_000_000n, signal })
    const first = await run()
    expect(first).toMatchObject({ end: 'complete', checked: count, problems: [], joined: { made: 0 } })
    expect([first.verdicts['moved'] ?? 0, first.verdicts['left'] ?? 0]).toEqual([0, 0])
    const before = new Map(people.map(({ slug }) => [slug, edge.told.get(`person ${slug}`)!]))

    const there: Member[] = []
    let next = 0
    for (const [career, percent, isThere] of shares) {
      const size = Math.max(1, Math.round((count * percent) / 100))
      for (const person of people.slice(next, next + size)) {
        careers.set(person.slug, career)
        if (isThere) there.push(person)
      }
      next += size
    }
    // Half of those who are there stand there with their profile, half with a mail address and the company alone.
    for (const [place, person] of there.entries())
      house.add('contacts', {
        firstname: person.firstName,
        lastname: person.lastName,
        email: `${person.slug}@${employerOf(person).domain}`,
        ...(place % 2 === 0 && { profnet_url: `https://www.profnet.com/in/${person.slug}` }),
      })
    await index()
    const contacts = () => [...store.list('contacts')]
    const records = contacts().map(
      ({ id, properties: { firstname = '', lastname = '', email = '', profnet_url: url } }) => ({
        id,
        slug: url?.split('/').at(-1) ?? null,
        firstName: firstname,
        lastName: lastname,
        mailDomain: email.split('@')[1] ?? '',
      }),
    )
    at = new Date(at.getTime() + 31 * dayMs)
    const second = await run()
    expect(second).toMatchObject({ end: 'complete', checked: count, problems: [] })

    const world: JudgedChampions = {
      champions: people.map(({ slug }) => ({
        id: ids.get(slug)!,
        slug,
        before: before.get(slug)?.['employment_history'],
        after: edge.told.get(`person ${slug}`)?.['employment_history'],
      })),
      companies: Object.fromEntries(
        [...edge.told].flatMap(([name, data]) =>
          name.startsWith('company ') ? [[name.slice(8), data]] : [],
        ),
      ),
      records,
    }
    const wanted = await judgeChampions(world)
    const rows = await house.context.database.db.selectFrom('champions').selectAll().execute()
    const found = new Map(rows.map((row) => [row.record_id, row]))
    const stood = new Set(records.map(({ id }) => id))
    const made = contacts().filter(({ id }) => !stood.has(id))
    const madeOf = new Map(made.map((each) => [each.properties['paydirt_former_record'], each]))
    const differences = people.flatMap(({ slug, employer }) => {
      const id = ids.get(slug)!
      const want = wanted[id]!
      const row = found.get(id)
      const { properties } = store.get('contacts', id)!
      const joined = row?.joined as { state: string; recordId: string } | null
      const fresh = madeOf.get(id)
      const isGone = want.outcome === 'moved' || want.outcome === 'left'
      const told = {
        outcome: row?.verdict,
        to: row?.employer?.domain ?? null,
        at:
          joined?.state === 'made'
            ? joined.recordId === fresh?.id
              ? 'new'
              : 'another'
            : (joined?.recordId ?? null),
        leftAt: properties['paydirt_left_company_at'] ?? '',
        company: properties['company'],
        isMade: fresh !== undefined,
      }
      const expected = {
        ...want,
        leftAt: isGone ? at.toISOString().slice(0, 10) : '',
        company: employer.name,
        isMade: want.at === 'new',
      }
      return JSON.stringify(told) === JSON.stringify(expected)
        ? []
        : [{ slug, career: careers.get(slug), told, expected }]
    })
    expect(differences).toEqual([])
    const domains = [...store.list('companies')].map(({ properties: { domain } }) => domain)
    expect(new Set(domains).size).toBe(domains.length)

    const paid = (await sandbox.transfersFrom(house.wallet)).length
    expect(paid).toBe((await house.nonces()).length)
    const again = await run()
    expect(again).toMatchObject({ due: 0, bought: 0, joined: { made: 0, there: 0 } })
    expect((await sandbox.transfersFrom(house.wallet)).length).toBe(paid)
    const outcomes = Map.groupBy(Object.values(wanted), ({ outcome }) => outcome)
    return {
      outcomes: Object.fromEntries([...outcomes].map(([outcome, all]) => [outcome, all.length])),
      made: made.length,
      there: there.length,
      falseMoves: rows.filter(
        ({ record_id: id, verdict }) => verdict === 'moved' && wanted[id]?.outcome !== 'moved',
      ).length,
      paid,
    }
  } finally {
    await house.close()
    edge.close()
  }
}
