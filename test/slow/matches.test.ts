// One file because every test works matches of one sandbox and one world of lists.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { onMatchSchema } from '../../src/app/config/watching/on-match.ts'
import { matchRefusals, matchWarnings } from '../../src/app/matches/match-refusals.ts'
import { listFindings } from '../../src/app/ops/list-findings.ts'
import { forget } from '../../src/app/records/forget.ts'
import { undoMatch } from '../../src/app/records/undo-match.ts'
import { workDueMatches, workMatch, type MatchSource } from '../../src/app/matches/work-match.ts'
import { answerRow } from '../../src/app/lists/review/answer-row.ts'
import { waitingRows } from '../../src/app/lists/review/waiting-rows.ts'
import { judgedRows } from '../../src/app/lists/judging/judged-rows.ts'
import type { Connector } from '../../src/connectors/connector.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { people } from '../../src/sandbox/world/people.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { sharedKinds, type CrmKind } from '../integration/crm-worlds.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(async () => {
  errors.length = 0
  await world.close()
})

/** Companies at which several people can be found. */
const known = [...Map.groupBy(people(), (each) => each.employer.domain).values()]
  .filter((colleagues) => colleagues.length >= 3)
  .map(([one]) => one!.employer)
const employers = known.map((each) => each.domain)
const [employer, other] = known
const domain = employer!.domain
const names = {
  hubspot: {
    people: 'contacts',
    companies: 'companies',
    name: 'name',
    website: 'domain',
    owner: 'hubspot_owner_id',
  },
  salesforce: { people: 'Contact', companies: 'Account', name: 'Name', website: 'Website', owner: 'OwnerId' },
} as const
const source = (more: Partial<MatchSource> = {}): MatchSource => ({
  company: { serviceId: null, identity: { domain }, values: {} },
  signals: [{ title: 'They hire in Spain', url: 'https://news.example/1', at: '2026-11-20T00:00:00.000Z' }],
  ...more,
})

/** A CRM whose index is complete, and what the monitor `dach` declares. */
async function open(kind: CrmKind, onMatch: Record<string, unknown>): Promise<void> {
  world = await openListWorld(sandbox, kind)
  declare(kind, onMatch)
  await world.index()
}

function declare(kind: CrmKind, onMatch: Record<string, unknown>): void {
  const declared = onMatchSchema.parse({ connector: kind, ...onMatch })
  Object.assign(world.context.config, { monitors: { dach: { onMatch: declared } } })
}

const errors: unknown[] = []
const options = (connector: Connector = world.connector) => ({
  signal: new AbortController().signal,
  connectorOf: async () => connector,
  onError: (error: unknown) => void errors.push(error),
})
const work = (given = source(), connector?: Connector) =>
  workMatch(world.context, 'dach', given, options(connector))
const matches = () => world.context.database.db.selectFrom('matches').selectAll().execute()
const due = () =>
  world.context.database.db
    .updateTable('matches')
    .set({ due_at: new Date(0) })
    .execute()
const charges = () => world.context.database.db.selectFrom('charges').selectAll().execute()

async function takeBack(runId: string, plan = false) {
  const run = await world.context.runs.get(runId)
  return undoMatch(world.context, world.connector, run!, { plan, signal: new AbortController().signal })
}

/** The calls that ask the CRM. */
const asked: ReadonlySet<string | symbol> = new Set(
  'read write find findByKey create snapshots owners ownersOf associate associations ensureFields findByMarker'.split(
    ' ',
  ),
)

/** Returns a connector whose process dies at one of its calls: before it, or when it is done. */
function diesAt(connector: Connector, point: number, isBefore: boolean) {
  let calls = 0
  const wrap = <T extends object>(part: T): T =>
    new Proxy(part, {
      get(target, name, receiver) {
        const value: unknown = Reflect.get(target, name, receiver)
        if (name === 'maker' || name === 'notes') return wrap(value as object)
        if (typeof value !== 'function' || !asked.has(name)) return value
        return async (...given: unknown[]) => {
          calls += 1
          const isPoint = calls === point
          const result: unknown = isPoint && isBefore ? undefined : await value.apply(target, given)
          if (isPoint) throw new Error('the process is gone')
          return result
        }
      },
    })
  return { connector: wrap(connector), hasDied: () => calls >= point }
}

describe.each(sharedKinds)('a match in %s', (kind) => {
  const of = names[kind]

  test('makes the company with two people and their owner once, and one undo takes all of it back', async () => {
    await open(kind, { create: true, people: { perCompany: 2, owner: { fromCompany: true } } })
    const [owner] = world.owners
    declare(kind, {
      create: true,
      owner,
      people: { perCompany: 2, owner: { fromCompany: true } },
      note: true,
      task: { title: 'Call them', dueDays: 3 },
    })
    const match = await work()
    expect(match).toMatchObject({ state: 'done', outcome: 'worked' })
    const companies = world.of(of.companies).state()
    expect([...companies.values()]).toMatchObject([{ [of.owner]: owner }])
    expect(String([...companies.values()][0]?.[of.website])).toContain(domain)
    const staff = world.of(of.people)
    expect(staff.ids()).toHaveLength(2)
    for (const id of staff.ids()) expect(world.companiesOf(id)).toEqual([...companies.keys()])
    expect([...staff.state().values()].map((each) => each[of.owner])).toEqual([owner, owner])
    const run = await world.context.runs.get(match!.id)
    expect(run).toMatchObject({ trigger: 'monitor', state: 'finished', records: 4 })

    // Named again within the time, in another spelling: nothing is done.
    const paid = (await charges()).length
    const again = source({
      company: { serviceId: null, identity: { domain: `https://www.${domain}/` }, values: {} },
    })
    expect(await work(again)).toMatchObject({ id: match!.id })
    expect(await matches()).toHaveLength(1)
    expect((await charges()).length).toBe(paid)

    const planned = await takeBack(match!.id, true)
    expect(planned.runs).toMatchObject([{ archived: 2 }, { archived: 1, left: 0 }])
    expect(planned.notes).toMatchObject({ removed: 2, left: 0 })
    expect(staff.ids()).toHaveLength(2)
    const undone = await takeBack(match!.id)
    expect(undone.notes).toMatchObject({ removed: 2, left: 0 })
    expect(undone.runs).toMatchObject([
      { kind: 'records', archived: 2, left: 0 },
      { kind: 'records', archived: 1, left: 0 },
    ])
    expect(staff.ids()).toEqual([])
    expect(world.of(of.companies).ids()).toEqual([])
    expect(errors).toEqual([])
  })

  test('enriches a company that is there, and undo restores its fields', async () => {
    await open(kind, { recipe: 'contact', note: true, task: { title: 'Call them', dueDays: 2 } })
    const id = world.of(of.companies).add({ [of.name]: 'Old name', [of.website]: domain })
    await world.index()
    const before = world.of(of.companies).state().get(id)
    const match = await work()
    expect(match).toMatchObject({ state: 'done', outcome: 'worked', recordId: id })
    expect(world.of(of.companies).ids()).toEqual([id])
    expect(world.of(of.companies).state().get(id)).not.toEqual(before)
    // Told and written once, also where the match is worked again from its beginning.
    expect(world.markers()).toHaveLength(2)
    await world.context.runs.setState(match!.id, 'parked')
    await world.context.database.db.updateTable('matches').set({ state: 'waiting' }).execute()
    await due()
    expect(await workDueMatches(world.context, options())).toBe(1)
    expect(await matches()).toMatchObject([{ state: 'done', outcome: 'worked' }])
    expect(world.markers()).toHaveLength(2)
    const undone = await takeBack(match!.id)
    expect(undone.runs).toHaveLength(2)
    expect(world.of(of.companies).state().get(id)).toEqual(before)
  })
})

describe('a match in HubSpot', () => {
  test('makes nothing for a company that is not there, is excluded or may be another', async () => {
    await open('hubspot', {})
    expect(await work()).toMatchObject({ state: 'done', outcome: 'unknown' })
    await world.context.database.db.deleteFrom('matches').execute()
    declare('hubspot', { create: true, exclude: { domains: [domain] } })
    expect(await work()).toMatchObject({ outcome: 'left', reason: expect.stringContaining('excluded') })
    await world.context.database.db.deleteFrom('matches').execute()
    // A record of the same name: a person says what it is, and then it is made.
    declare('hubspot', { create: true })
    world.add({ name: employer!.name })
    await world.index()
    const named = source({
      company: { serviceId: null, identity: { domain, company: employer!.name }, values: {} },
    })
    expect(await work(named)).toMatchObject({
      state: 'review',
      reason: expect.stringContaining('lists review'),
    })
    const calls = await world.calls('monitors.dach.companies')
    const waiting = []
    for await (const rows of judgedRows(world.context, calls))
      waiting.push(...(await waitingRows(world.context, calls.settings, rows)))
    expect(waiting).toHaveLength(1)
    await answerRow(world.context, calls.name, { key: waiting[0]!.key, answer: 'new', by: 'tester' })
    await due()
    await workDueMatches(world.context, options())
    expect(await matches()).toMatchObject([{ state: 'done', outcome: 'worked' }])
    expect(world.ids()).toHaveLength(2)
    expect(await charges()).toEqual([])
  })

  test.skipIf(!isFullSize)('is worked once, whichever call of the CRM its process dies at', async () => {
    await open('hubspot', {
      create: true,
      people: { perCompany: 2 },
      note: true,
      task: { title: 'Call them' },
    })
    const points = sized(40, 2)
    // A match makes about so many calls.
    const calls = 35
    let died = 0
    for (const [at, domain] of employers.slice(0, points).entries()) {
      const dying = diesAt(world.connector, 1 + Math.floor((at * calls) / points), at % 2 === 0)
      const given = source({ company: { serviceId: null, identity: { domain }, values: {} } })
      await work(given, dying.connector)
      if (dying.hasDied()) died += 1
      await due()
      await workDueMatches(world.context, options())
    }
    const [companies, staff] = [world.of('companies'), world.of('contacts')]
    const websites = [...companies.state().values()].map((each) => each['domain'])
    expect(websites.sort()).toEqual(employers.slice(0, points).sort())
    // Some people of the world have the same name: once one is a record, the others may be that one, and are left out.
    const steps = await world.context.database.db
      .selectFrom('tasks')
      .select('reason')
      .where('ordinal', '=', 2)
      .execute()
    const unclear = steps.flatMap(({ reason }) => /(\d+) who may be/.exec(reason ?? '')?.slice(1) ?? [])
    const leftOut = unclear.reduce((sum, count) => sum + Number(count), 0)
    expect(staff.ids()).toHaveLength(2 * points - leftOut)
    for (const id of staff.ids()) expect(world.companiesOf(id)).toHaveLength(1)
    const markers = world.markers()
    expect(new Set(markers).size).toBe(markers.length)
    const waiting = (await matches()).filter(({ state }) => state !== 'done').length
    // One that was sent and is not there yet waits until the CRM can be at work on it no more.
    expect(markers.length).toBeGreaterThanOrEqual(2 * (points - waiting))
    expect(died).toBeGreaterThan(0)
  })

  test('waits while the index is not complete, and at the cap of its day', async () => {
    world = await openListWorld(sandbox, 'hubspot')
    declare('hubspot', { create: true, recipe: 'contact', budgetDayUsd: '0.01' })
    expect(await work()).toMatchObject({ state: 'waiting', reason: expect.stringContaining('paydirt index') })
    expect(await charges()).toEqual([])
    await world.index()
    await due()
    await workDueMatches(world.context, options())
    const spent = (await charges()).length
    const scopes = await world.context.database.db.selectFrom('budgets').selectAll().execute()
    expect(scopes.filter(({ scope }) => scope.startsWith('monitor:dach:'))).toHaveLength(2)
    const match = await work(
      source({ company: { serviceId: null, identity: { domain: other!.domain }, values: {} } }),
    )
    expect(match).toMatchObject({ state: 'waiting' })
    expect((await charges()).length).toBe(spent)
    for (const { scope, committed_atomic: committed } of scopes)
      if (scope.startsWith('monitor:dach:')) expect(committed).toBeLessThanOrEqual(10_000n)
    expect(errors).toEqual([])
  })
})

test('A plan says what matches would wait for, and that the service spends by itself', async () => {
  world = await openListWorld(sandbox, 'hubspot')
  declare('hubspot', { create: true, owner: '999', people: { perCompany: 1 }, note: true })
  const refusals = await matchRefusals(world.context, 'dach', world.connector)
  expect(refusals.join('\n')).toMatch(/monitors\.dach\.onMatch\.owner: .*999/)
  expect(refusals.join('\n')).toContain('paydirt index hubspot')
  expect(matchWarnings(world.context, 'dach')).toEqual([])
  Object.assign(world.context.config.monitors!['dach']!, {
    automaticPersonEnrichment: { levels: ['C-Level'] },
  })
  expect(matchWarnings(world.context, 'dach')).toEqual([expect.stringContaining('paydirt reconcile')])
  const { connector } = world
  const findings = await listFindings({ ...world.context.config, lists: {} }, connector, undefined)
  expect(findings.map(({ name, status }) => [name, status])).toEqual([
    ['monitors.dach.onMatch', 'problem'],
    ['monitors.dach.onMatch.people', 'ok'],
  ])
})

test('a forgotten company leaves no key among the searches for its people', async () => {
  await open('hubspot', { create: true, people: { perCompany: 2 } })
  await work()
  const { db } = world.context.database
  const fetches = () => db.selectFrom('list_fetches').select(['list', 'parts']).execute()
  const [searched] = await fetches()
  expect(searched?.list).toContain(domain)
  await forget(world.context, [{ kind: 'domain', value: domain, isCompany: true }], { suppress: false })
  expect(JSON.stringify(await fetches())).not.toContain(domain)
})
