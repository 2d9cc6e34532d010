import { afterAll, beforeAll, expect, test } from 'vitest'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sized } from '../support/full-size.ts'
import { independentVerdicts, type RawCase } from '../support/independent-verdicts.ts'
import { allJudged } from '../support/list-rows.ts'
import { testSeed } from '../support/seed.ts'
import { openEdge } from '../support/service-edge.ts'
import { sharedKinds, type CrmKind } from '../integration/crm-worlds.ts'
import { makeWorld, type RawCompany, type RawContact, type RawWorld } from './list-world.fixture.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

const size = { companies: sized(20_000, 400), contacts: sized(40_000, 400), rows: sized(5_000, 200) }
const perPage = 25
const signal = new AbortController().signal

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startSandbox()
  sandbox.faults.set({ plan: { max_search_page: Math.ceil(size.rows / perPage) } })
})
afterAll(() => sandbox.stop())

/** Property names of each CRM for what a raw record has. */
const properties = {
  hubspot: {
    company: ({ name, domain, website, profile }: RawCompany) => ({
      name,
      domain,
      website,
      profnet_url: profile,
    }),
    contact: ({ first, last, email, profile, company }: RawContact) => ({
      firstname: first,
      lastname: last,
      email,
      profnet_url: profile,
      company,
    }),
    contacts: 'contacts',
    domains: ['domain', 'website'],
    profile: 'profnet_url',
    name: 'name',
  },
  salesforce: {
    company: ({ name, domain, website, profile }: RawCompany) => ({
      Name: name,
      Website: website ?? domain,
      Profnet_URL__c: profile,
    }),
    contact: ({ first, last, email, profile }: RawContact) => ({
      FirstName: first,
      LastName: last,
      Email: email,
      Profnet_URL__c: profile,
    }),
    contacts: 'Contact',
    domains: ['Website'],
    profile: 'Profnet_URL__c',
    name: 'Name',
  },
} as const

test.each(sharedKinds)(
  'verdicts of a list equal those of an independent script, and nothing is made twice or overlooked, in %s',
  { timeout: 1_800_000 },
  async (kind) => {
    const raw = makeWorld(testSeed(), size)
    const edge = await openEdge(sandbox.serviceUrl, ({ path, body }) =>
      path.endsWith('/companies/search') ? { rewrite: (answer) => pageOf(raw, body, answer) } : undefined,
    )
    const world = await openListWorld({ ...sandbox, serviceUrl: edge.url }, kind, {
      limit: size.rows,
      list: { exclude: { domains: raw.excluded }, requires: raw.requires },
    })
    try {
      const ids = fill(world, kind, raw)
      await world.context.suppressions.add(
        raw.suppressed.map(({ domain }) => ({
          ...readIdentifiers({ domain: [domain] })[0]!,
          isCompany: true,
        })),
      )
      await world.index()
      await indexRecords(world.context, world.connector, properties[kind].contacts, { rebuild: true, signal })
      await world.fetch()
      // Each page is asked for once, and paid once.
      expect(edge.count('/companies/search')).toBeLessThanOrEqual(Math.ceil(size.rows / perPage) + 1)
      expect(await world.transfers()).toHaveLength(Math.ceil(size.rows / perPage))

      const independent = await independentVerdicts(rawCase(world, kind, raw))
      const truth = raw.truth.map(({ verdict, companies }) => ({
        verdict,
        records: companies.map((at) => ids[at]!).sort(),
      }))
      expect(differences(raw, independent, truth)).toEqual([])
      expect(differences(raw, await verdictsOf(world, truth), truth)).toEqual([])

      // A row with the id of an earlier one counts once; others that are the same are duplicates.
      const serviceIds = raw.rows.map((row) => row.domain_search_id)
      const kept = truth.filter(
        ({ verdict }, at) => verdict !== 'duplicate' || serviceIds.indexOf(serviceIds[at]!) === at,
      )
      const before = world.ids().length
      const news = truth.filter(({ verdict }) => verdict === 'new').length
      const calls = (path: RegExp) =>
        world.wire.log.filter((each) => path.test(`${each.method} ${each.path}`)).length
      world.wire.forget()
      const plan = await world.plan()
      const matched = calls(matching[kind])
      expect(matched).toBeLessThanOrEqual(5 * Math.ceil(size.rows / 100))
      expect(plan).toMatchObject({ creates: news, verdicts: countsOf(kept) })
      world.wire.forget()
      expect(await world.apply(plan.planId)).toMatchObject({ end: 'finished', created: news })
      expect(world.ids()).toHaveLength(before + news)
      const made = calls(creating[kind])
      expect(made).toBe(Math.ceil(news / world.connector.maker!.perCreate))
      process.stderr.write(
        `${kind}: ${matched} calls for ${size.rows} rows matched, ${made} for ${news} created; ${JSON.stringify(countsOf(truth))}\n`,
      )

      // Afterwards each company that was new is one record, and none of them two.
      const after = await independentVerdicts(rawCase(world, kind, raw))
      const wasNew = after.filter((_, at) => truth[at]?.verdict === 'new')
      expect(new Set(wasNew.map(({ verdict }) => verdict))).toEqual(new Set(['exists']))
      expect(new Set(wasNew.flatMap(({ records }) => records)).size).toBe(news)

      // The same list again on the same day pays nothing and makes nothing.
      const paid = (await world.transfers()).length
      await world.fetch()
      expect(await world.plan()).toMatchObject({ creates: 0 })
      expect(await world.transfers()).toHaveLength(paid)
    } finally {
      await world.close()
      edge.close()
    }
  },
)

/** The requests with which rows are matched with records, and those with which records are made. */
const matching = {
  hubspot: /POST .*(\/search|batch\/read)/,
  salesforce: /(GET .*query|POST .*composite(\/sobjects\/.*)?$)/,
}
const creating = {
  hubspot: /POST .*batch\/(create|upsert)/,
  salesforce: /POST .*composite\/sobjects$/,
}

/** Puts rows of the world in place of those that the stand-in of the service has on a page. */
function pageOf(raw: RawWorld, body: string, answer: string): string {
  const { page = 1 } = JSON.parse(body) as { page?: number }
  const answered = JSON.parse(answer) as { data: { companies: object[]; pagination: object } }
  const companies = raw.rows.slice((page - 1) * perPage, page * perPage)
  const pagination = {
    page,
    per_page: perPage,
    total_entries: raw.rows.length,
    total_pages: Math.ceil(raw.rows.length / perPage),
  }
  return JSON.stringify({ ...answered, data: { ...answered.data, pagination, companies } })
}

function fill(world: ListWorld, kind: CrmKind, raw: RawWorld): string[] {
  const { company, contact, contacts } = properties[kind]
  const filled = (values: Record<string, string | undefined>) =>
    Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Record<
      string,
      string
    >
  for (const each of raw.contacts) world.addTo(contacts, filled(contact(each)))
  return raw.companies.map((each) => world.add(filled(company(each))))
}

function rawCase(world: ListWorld, kind: CrmKind, raw: RawWorld): RawCase {
  const { domains, profile, name } = properties[kind]
  const state = world.state()
  const texts = (values: Record<string, unknown>, names: readonly string[]) =>
    names.flatMap((each) => (typeof values[each] === 'string' ? [values[each]] : []))
  return {
    rows: raw.rows,
    records: world.ids().map((id) => {
      const values = state.get(id)!
      return {
        id,
        name: String(values[name]),
        domains: texts(values, domains),
        profiles: texts(values, [profile]),
      }
    }),
    suppressed: raw.suppressed.map(({ domain }) => domain),
    excluded: raw.excluded,
    requires: raw.requires,
  }
}

interface Verdict {
  verdict: string
  records: string[]
}

/** Returns the verdicts by the place of their row. Suppressed and excluded rows are not kept, and one that came before counts once. */
async function verdictsOf(world: ListWorld, truth: readonly Verdict[]): Promise<Verdict[]> {
  const judged = await allJudged(world.context, await world.calls())
  const kept = new Map(judged.map((each) => [each.ordinal, each]))
  return truth.map(({ verdict }, at) => {
    const row = kept.get(at + 1)
    if (!row) return { verdict: notKept.has(verdict) ? verdict : 'not kept', records: [] }
    return { verdict: row.verdict, records: row.records.map(({ recordId }) => recordId).sort() }
  })
}

const notKept: ReadonlySet<string> = new Set(['suppressed', 'excluded', 'duplicate'])

function differences(raw: RawWorld, given: readonly Verdict[], wanted: readonly Verdict[]): object[] {
  expect(given).toHaveLength(wanted.length)
  const texts = given.map((each) => JSON.stringify(each))
  return wanted
    .flatMap((each, at) =>
      texts[at] === JSON.stringify(each) ? [] : [{ at, row: raw.rows[at], given: given[at], wanted: each }],
    )
    .slice(0, 5)
}

function countsOf(verdicts: readonly Verdict[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { verdict } of verdicts) counts[verdict] = (counts[verdict] ?? 0) + 1
  return counts
}
