import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { readIdentifiers } from '../../src/app/records/suppress.ts'
import { makeReport } from '../../src/app/reports/report.ts'
import { sharedKinds, type CrmKind } from '../integration/crm-worlds.ts'
import { isFullSize } from '../support/full-size.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

const inCrm = {
  hubspot: { entity: 'contacts', email: 'email', last: 'lastname', title: 'jobtitle' },
  salesforce: { entity: 'Contact', email: 'Email', last: 'LastName', title: 'Title' },
} as const

async function open(kind: CrmKind, more: Record<string, unknown> = {}, into: Record<string, unknown> = {}) {
  world = await openListWorld(sandbox, kind, {
    entity: inCrm[kind].entity,
    limit: 8,
    into: { associate: false, ...into },
    list: { search: 'people.search', filters: { people_titles: ['Head'] }, recipe: 'contact', ...more },
  })
  const rows = await world.fetch()
  const slug = (row: (typeof rows)[number]) => String(row.values['profnet_url']).split('/').at(-1)!
  const emailOf = (row: (typeof rows)[number]) => {
    const { emails } = contactsOf(slug(row))
    return emails.find(({ type }) => type === 'work')?.value
  }
  return { rows, emailOf, withEmail: rows.filter((row) => emailOf(row) !== undefined) }
}

async function charged(): Promise<number> {
  const charges = await world.context.database.db.selectFrom('charges').select('state').execute()
  return charges.filter(({ state }) => state === 'settled').length
}

describe.each(sharedKinds)('a list with a recipe in %s', (kind) => {
  const names = inCrm[kind]

  test('looks its rows up first, and updates a person whom the revealed e-mail finds', async () => {
    const { rows, emailOf, withEmail } = await open(kind, {}, { update: true })
    const [known] = withEmail
    const there = world.add({ [names.last]: 'Known otherwise', [names.email]: emailOf(known!)! })
    await world.index()
    const pages = await charged()

    const plan = await world.plan()
    expect(plan).toMatchObject({ creates: rows.length, refusals: [], updates: { records: 0 } })
    expect(plan.enrichment).toMatchObject({ recipe: 'contact', records: rows.length })
    expect(Number(plan.enrichment?.uncapped.high)).toBeGreaterThan(0)
    expect(await charged()).toBe(pages)

    const applied = await world.apply(plan.planId)
    expect(applied).toMatchObject({ created: rows.length - 1, exists: 1, end: 'finished', waiting: 0 })
    const bought = (await charged()) - pages
    expect(applied.enrichment?.lookups.paid).toBeGreaterThan(0)
    // The record needs nothing that was not bought for the row: nothing is paid twice.
    expect(applied.updates).toMatchObject({ records: 1, lookups: { paid: 0 } })
    expect(bought).toBeGreaterThan(0)
    expect(Number(applied.enrichment?.spend.settled)).toBeLessThanOrEqual(
      Number(plan.enrichment?.uncapped.high),
    )

    expect(world.ids()).toHaveLength(rows.length)
    const state = world.state()
    expect(state.get(there)).toMatchObject({
      [names.last]: 'Known otherwise',
      [names.email]: emailOf(known!),
    })
    for (const row of withEmail.slice(1))
      expect([...state.values()].map((values) => values[names.email])).toContain(emailOf(row))

    const report = await makeReport(world.context, { run: applied.runId })
    expect(report.lists).toMatchObject([{ list: 'german', created: rows.length - 1, existed: 1 }])
    expect(Number(report.lists[0]?.paidForExisting)).toBeGreaterThan(0)
    // The page on which the rows stood is paid for too.
    expect(Number(report.lists[0]?.paid)).toBeGreaterThan(Number(applied.enrichment?.spend.settled))

    // The same list again makes nothing and buys nothing: the answers are in the ledger.
    const before = await charged()
    const again = await world.plan()
    expect(again.enrichment?.lookups.toBuy ?? 0).toBe(0)
    expect(again.updates?.lookups.toBuy).toBe(0)
    expect(await world.apply(again.planId)).toMatchObject({ created: 0, end: 'finished' })
    expect(await charged()).toBe(before)
    expect(world.ids()).toHaveLength(rows.length)
  })
})

describe('a list with a recipe', () => {
  test('leaves a row whose record exists where it updates none, and says what it cost', async () => {
    const { rows, emailOf, withEmail } = await open('hubspot')
    const there = world.add({ lastname: 'Known otherwise', email: emailOf(withEmail[0]!)! })
    await world.index()
    const applied = await world.apply((await world.plan()).planId)
    expect(applied).toMatchObject({ created: rows.length - 1, exists: 1, updates: null, end: 'finished' })
    const { firstname } = world.state().get(there) ?? {}
    expect(firstname).toBeUndefined()
  })

  test('asks for a field that the recipe brings after it was bought', async () => {
    const { rows, withEmail } = await open('hubspot', { requires: ['email'] })
    await world.index()
    const plan = await world.plan()
    expect(plan.creates).toBe(rows.length)
    expect(await world.apply(plan.planId)).toMatchObject({
      created: withEmail.length,
      left: rows.length - withEmail.length,
      end: 'finished',
    })
  })

  test('makes no company for a person who makes no record', async () => {
    const { withEmail, rows } = await open('hubspot', { requires: ['email'] }, { associate: true })
    expect(withEmail.length).toBeLessThan(rows.length)
    await world.index()
    const plan = await world.plan()
    expect(await world.apply(plan.planId)).toMatchObject({ created: withEmail.length, end: 'finished' })
    const domains = new Set(withEmail.map((row) => row.values['company_domain']))
    expect(world.of('companies').ids()).toHaveLength(domains.size)
    for (const id of world.ids()) expect(world.companiesOf(id)).toHaveLength(1)
  })

  test('buys nothing for a person who was suppressed after the plan', async () => {
    const { rows, withEmail } = await open('hubspot')
    await world.index()
    const { planId } = await world.plan()
    const url = String(withEmail[0]?.values['profnet_url'])
    await world.context.suppressions.add(readIdentifiers({ profile_url: [url] }))
    const applied = await world.apply(planId)
    expect(applied).toMatchObject({ created: rows.length - 1, left: 1 })
    expect(applied.enrichment?.tasks.skipped).toBeGreaterThan(0)
  })

  test('that is interrupted while it looks up goes on, and pays for nothing twice', async () => {
    const { rows } = await open('hubspot')
    await world.index()
    const { planId } = await world.plan()
    const stop = new AbortController()
    const first = await world.apply(planId, {
      signal: stop.signal,
      onLookups: ({ settledAtomic }) => settledAtomic > 0n && stop.abort(),
    })
    expect(first).toMatchObject({ end: 'interrupted', created: 0 })
    expect(world.ids()).toEqual([])
    const applied = await world.apply(planId)
    expect(applied).toMatchObject({ created: rows.length, end: 'finished' })
    const { db } = world.context.database
    const settled = await db
      .selectFrom('charges')
      .select('lookup_key')
      .where('state', '=', 'settled')
      .execute()
    expect(new Set(settled.map((each) => each.lookup_key)).size).toBe(settled.length)
  })

  test.skipIf(!isFullSize)(
    'keeps to one budget for rows and for records, and goes on with the next one',
    async () => {
      const { rows, withEmail } = await open('hubspot', {}, { update: true })
      world.add({ lastname: 'Kept', profnet_url: String(withEmail[0]!.values['profnet_url']) })
      await world.index()
      const { planId, enrichment, updates } = await world.plan()
      const highs = [enrichment, updates].map((each) => Number(each?.uncapped.high))
      const spent = async () => {
        const { db } = world.context.database
        const charges = await db.selectFrom('charges').select(['state', 'amount_atomic']).execute()
        return charges.reduce(
          (sum, { state, amount_atomic: atomic }) => sum + (state === 'settled' ? atomic : 0n),
          0n,
        )
      }
      const before = await spent()
      const mostAtomic = 400_000n
      expect(Number(mostAtomic)).toBeLessThan((highs[0]! + highs[1]!) * 1e6)
      let end = ''
      let budgets = 0
      for (; end !== 'finished'; budgets += 1) {
        expect(budgets).toBeLessThan(20)
        const already = await spent()
        const applied = await world.apply(planId, { mostAtomic })
        end = applied.end
        // No budget is spent twice over, and the next one is not held by the last.
        expect(await spent()).toBeLessThanOrEqual(already + mostAtomic)
        if (end !== 'finished') expect(await spent()).toBeGreaterThan(already)
      }
      expect(budgets).toBeGreaterThan(1)
      expect(Number((await spent()) - before)).toBeLessThanOrEqual((highs[0]! + highs[1]!) * 1e6)
      expect(world.ids()).toHaveLength(rows.length)
    },
  )

  test('enriches records that exist under their field policy, where it updates them', async () => {
    const { rows, emailOf, withEmail } = await open('hubspot', {}, { update: true })
    const known = withEmail[0]!
    const there = world.add({ lastname: 'Kept', profnet_url: String(known.values['profnet_url']) })
    await world.index()
    const plan = await world.plan()
    expect(plan).toMatchObject({ creates: rows.length - 1, updates: { records: 1, recipe: 'contact' } })
    const applied = await world.apply(plan.planId)
    expect(applied).toMatchObject({ created: rows.length - 1, updates: { tasks: { written: 1 } } })
    expect(world.state().get(there)).toMatchObject({ lastname: 'Kept', email: emailOf(known) })
    // That run is undone as a sync is.
    await world.undo(applied.updates!.runId)
    expect(world.state().get(there)?.['email']).toBeUndefined()
  })
})
