import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { onMatchSchema } from '../../src/app/config/watching/on-match.ts'
import type { Context } from '../../src/app/context/context.ts'
import { runChampions } from '../../src/app/champions/run-champions.ts'
import { workMatch } from '../../src/app/matches/work-match.ts'
import { makeReady } from '../../src/app/runs/sync.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { people } from '../../src/sandbox/world/people.ts'
import { eraseDue } from '../../src/store/retention/erasures.ts'
import { dumpLedger, tracesIn } from '../support/dump-ledger.ts'
import { call, openHttpHouse, secrets } from '../support/http-house.ts'
import { known, openCareers, type Career } from '../integration/champions.fixture.ts'
import { openCrmHouse, quick } from '../integration/crm-house.ts'
import { sharedKinds } from '../integration/crm-worlds.ts'
import { openListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const dayMs = 86_400_000
const tablesOf = (lines: readonly string[]) => new Set(lines.map((line) => line.split(':')[0]))

/** Erases as a process does after all retentions, and returns the lines of a dump that still have one of the words. */
async function leftAfter({ database }: Context, words: readonly string[]): Promise<string[]> {
  await eraseDue(database.db, {
    days: { answers: 90, signals: 60, records: 90, messages: 60, audit: 60 },
    now: new Date(Math.max(Date.now(), new Date('2037-11-23').getTime()) + 800 * dayMs),
    token: () => randomBytes(12).toString('hex'),
    pageSize: 50,
  })
  return tracesIn(await dumpLedger({ database }), words)
}

test.each(sharedKinds)(
  'nothing of a company of a list, of its people, notes and match is left: %s',
  async (kind) => {
    const world = await openListWorld(sandbox, kind)
    try {
      const rows = await world.fetch()
      const { values } = rows.find((row) => row.values['profnet_url'] !== undefined)!
      const profile = String(values['profnet_url'])
      await world.index()
      const { planId } = await world.plan()
      await world.apply(planId)

      const { employer } = [...Map.groupBy(people(), (each) => each.employer.domain).values()].find(
        (colleagues) => colleagues.length >= 3,
      )![0]!
      const onMatch = onMatchSchema.parse({
        connector: kind,
        create: true,
        people: { perCompany: 2 },
        note: true,
        task: { title: 'Call them', dueDays: 3 },
      })
      Object.assign(world.context.config, { monitors: { dach: { onMatch } } })
      const company = { serviceId: null, identity: { domain: employer.domain }, values: {} }
      const signals = [
        {
          title: `${employer.name} hires`,
          url: `https://news.example/${employer.domain}`,
          at: '2026-11-20T00:00:00.000Z',
        },
      ]
      const match = await workMatch(
        world.context,
        'dach',
        { company, signals },
        { signal: new AbortController().signal, connectorOf: async () => world.connector },
      )
      expect(match).toMatchObject({ state: 'done', outcome: 'worked' })

      const words = [
        String(values['domain']),
        profile.slice(profile.indexOf('/company/')),
        String(values['company_name']),
        employer.domain,
        employer.name,
        `"record_id": "${match?.recordId}"`,
      ]
      const planted = tablesOf(tracesIn(await dumpLedger(world.context), words))
      for (const table of [
        'created_records',
        'crm_notes',
        'list_rows',
        'lookups',
        'matches',
        'plan_records',
        'record_identities',
        'tasks',
      ])
        expect([...planted]).toContain(table)
      expect(await leftAfter(world.context, words)).toEqual([])
    } finally {
      await world.close()
    }
  },
)

test('nothing of a champion is left', async () => {
  const at = new Date('2037-11-23T08:00:00Z')
  const [person] = known(1)
  const { slug, firstName, lastName, employer } = person!
  const careers = new Map<string, Career>([[slug, 'moved']])
  const edge = await openCareers(sandbox, [person!], careers)
  const house = await openCrmHouse(sandbox, {
    config: {
      connectors: quick,
      champions: { customers: { connector: 'hubspot', filter: 'lifecyclestage=customer' } },
    } as never,
    env: { PAYDIRT_SERVICE_URL: edge.url },
    overrides: { now: () => at },
  })
  try {
    await makeReady(house.connector, ['contacts'])
    house.add('contacts', {
      firstname: firstName,
      lastname: lastName,
      email: `${slug}@${employer.domain}`,
      company: employer.name,
      lifecyclestage: 'customer',
      profnet_url: `https://www.profnet.com/in/${slug}`,
    })
    const { signal } = new AbortController()
    await runChampions(house.context, 'customers', { budgetAtomic: 60_000_000n, signal })
    const words = [slug, `${firstName} ${lastName}`, employer.domain]
    expect([...tablesOf(tracesIn(await dumpLedger(house.context), words))]).toContain('champions')
    expect(await leftAfter(house.context, words)).toEqual([])
  } finally {
    await house.close()
    edge.close()
  }
})

test('nothing of a press and of a delivery is left', async () => {
  const house = await openHttpHouse(sandbox)
  try {
    const url = Array.from({ length: 40 }, (_, n) => `https://www.profnet.example/company/pressed-${n}`).find(
      (each) => companyAnswer(each).data !== null,
    )!
    const id = house.addCompany({ name: 'Pressed Works', profnet_url: url })
    const token = await house.token()
    const body = { connector: 'hubspot', object: 'company', ids: [id] }
    let status = 202
    while (status === 202) ({ status } = await call(`${house.url}/v1/enrich?wait=13`, { token, body }))
    expect(status).toBe(200)
    const delivery = {
      monitor: { id: 1 },
      triggered_at: '2026-11-20T00:00:00Z',
      signals: [{ type: 'expansions', domain: 'delivered-works.example' }],
    }
    const headers = { 'x-paydirt-monitor-secret': secrets.monitor }
    expect(await call(`${house.url}/hooks/monitor`, { body: delivery, headers })).toMatchObject({
      status: 200,
    })
    const { db } = house.context.database
    await vi.waitFor(
      async () =>
        expect(await db.selectFrom('monitor_deliveries').select('body').execute()).toEqual([{ body: null }]),
      { timeout: 120_000, interval: 100 },
    )
    const words = [url.slice(url.lastIndexOf('/') + 1), 'delivered-works.example']
    const planted = tablesOf(tracesIn(await dumpLedger(house.context), words))
    for (const table of ['lookups', 'tasks']) expect([...planted]).toContain(table)
    const pressed = [`"record_id": "${id}"`]
    expect([...tablesOf(tracesIn(await dumpLedger(house.context), pressed))]).toContain('button_tasks')
    await vi.waitFor(
      async () =>
        expect(
          (await db.selectFrom('runs').select('state').execute()).map(({ state }) => state),
        ).not.toContain('working'),
      { timeout: 120_000, interval: 100 },
    )
    await house.stop()
    const left = await leftAfter(house.context, [...words, ...pressed])
    // The memory of deliveries has an end of its own, after 400 days.
    expect(left.filter((line) => !line.startsWith('monitor_seen:'))).toEqual([])
  } finally {
    await house.close()
  }
})
