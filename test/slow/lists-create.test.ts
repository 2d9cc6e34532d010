import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { forget } from '../../src/app/records/forget.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { sharedKinds } from '../integration/crm-worlds.ts'
import { nameOf, openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
let world: ListWorld

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => world.close())

describe.each(sharedKinds)('in %s', (kind) => {
  const websiteOf = { hubspot: 'domain', salesforce: 'Website' }[kind]
  const names = () => [...world.state().values()].map((values) => values[nameOf[kind]])

  test('a plan names the records, and apply makes exactly these, once', async () => {
    world = await openListWorld(sandbox, kind)
    const rows = await world.fetch()
    const known = world.add({ [nameOf[kind]]: 'Known', [websiteOf]: String(rows[1]?.values['domain']) })
    await world.index()
    const paid = await world.transfers()
    const plan = await world.plan()
    expect(plan).toMatchObject({
      creates: 4,
      verdicts: { new: 4, exists: 1 },
      refusals: [],
      isComplete: true,
    })
    expect(plan.first[0]?.properties).toMatchObject({ [nameOf[kind]]: rows[0]?.values['company_name'] })
    expect(names()).toEqual(['Known'])

    const applied = await world.apply(plan.planId)
    expect(applied).toMatchObject({
      created: 4,
      exists: 0,
      rejected: 0,
      left: 0,
      waiting: 0,
      end: 'finished',
    })
    expect(names().sort()).toEqual(
      ['Known', ...[0, 2, 3, 4].map((at) => rows[at]?.values['company_name'])].sort(),
    )
    expect(world.state().get(known)).toMatchObject({ [nameOf[kind]]: 'Known' })
    await expect(world.apply(plan.planId)).rejects.toThrow(/was carried out as run/)

    // The same list on the same day, also under another name.
    for (const name of ['german', 'again']) {
      await world.fetch(name)
      expect(await world.plan(name)).toMatchObject({ creates: 0, verdicts: { exists: 5 } })
    }
    expect(await world.transfers()).toHaveLength(paid.length)
    expect(await world.context.runs.get(applied.runId)).toMatchObject({
      trigger: 'list',
      state: 'finished',
      records: 4,
    })
  })

  test('a record that appeared since the plan is left as it is', async () => {
    world = await openListWorld(sandbox, kind)
    const rows = await world.fetch()
    await world.index()
    const plan = await world.plan()
    expect(plan.creates).toBe(5)
    const id = world.add({ [nameOf[kind]]: 'By hand', [websiteOf]: String(rows[2]?.values['domain']) })
    expect(await world.apply(plan.planId)).toMatchObject({ created: 4, exists: 1 })
    expect((await world.made())[2]).toMatchObject({
      state: 'exists',
      record_id: id,
      reason: 'exists: the same domain',
    })
    expect(world.state().size).toBe(5)
    expect(world.state().get(id)).toMatchObject({ [nameOf[kind]]: 'By hand' })
  })

  test('an index that is not complete, a list of people and an empty ledger are refused', async () => {
    world = await openListWorld(sandbox, kind)
    await expect(world.plan()).rejects.toThrow(/lists fetch german/)
    await world.fetch()
    await expect(world.plan()).rejects.toThrow(`paydirt index ${kind}`)
    await expect(world.plan('people')).rejects.toThrow(/has no object \w+ for people/)
    expect(world.state().size).toBe(0)
  })

  test('an answer that is lost makes no second record', async () => {
    world = await openListWorld(sandbox, kind)
    await world.fetch()
    await world.index()
    const { planId } = await world.plan()
    let lost = 0
    const { maker } = world.connector
    const connector = {
      ...world.connector,
      maker: {
        ...maker!,
        async create(...args: Parameters<NonNullable<typeof maker>['create']>) {
          const results = await maker!.create(...args)
          lost += 1
          return lost === 1
            ? results.map(({ key }) => ({ key, status: 'retry' as const, afterMs: 1, reason: 'lost' }))
            : results
        },
      },
    }
    expect(await world.apply(planId, { connector })).toMatchObject({ created: 5, end: 'finished' })
    expect(world.state().size).toBe(5)
  })

  test('undo archives what nobody touched, and names the others', async () => {
    world = await openListWorld(sandbox, kind, { limit: 8 })
    await world.fetch()
    await world.index()
    const { runId } = await world.apply((await world.plan()).planId)
    const ids = (await world.made()).map((row) => String(row.record_id))
    world.edit(ids[0]!, { [nameOf[kind]]: 'Edited' })
    world.edit(ids[1]!, { [kind === 'hubspot' ? 'phone' : 'Phone']: '+49 30 123456' })
    world.tieDeal(ids[2]!)
    const plan = await world.takeBack(runId, true)
    expect(plan).toMatchObject({ archived: 5, left: 3, already: 0 })
    expect(plan.bin.keptDays).toBeGreaterThan(0)
    expect(world.ids()).toHaveLength(8)

    const undone = await world.takeBack(runId)
    expect(undone).toMatchObject({ archived: 5, left: 3 })
    expect(undone.rows.map(({ record }) => record)).toEqual(ids.slice(0, 3))
    expect(undone.rows[0]?.reason).toMatch(`changed since: ${nameOf[kind]}`)
    expect(undone.rows[2]?.reason).toBe('tied since to 1 deals')
    expect(world.ids().sort()).toEqual(ids.slice(0, 3).sort())
    expect(await world.takeBack(runId)).toMatchObject({ archived: 0, already: 5, left: 3 })
    // The identities are free again: a person may plan the list once more.
    expect(await world.plan('german')).toMatchObject({ creates: 5 })
  })

  test('two lists that name the same companies at once take turns, though the search lags', async () => {
    world = await openListWorld(sandbox, kind)
    await world.fetch()
    await world.index()
    const [one, two] = [await world.plan('german'), await world.plan('again')]
    expect([one.creates, two.creates]).toEqual([5, 5])
    world.lagSearch(30_000)
    const ends = await Promise.all([world.apply(one.planId), world.apply(two.planId)])
    expect(ends.map(({ end }) => end)).toEqual(['finished', 'finished'])
    expect(ends[0].created + ends[1].created).toBe(5)
    expect(ends[0].exists + ends[1].exists).toBe(5)
    expect(world.ids()).toHaveLength(5)
  })

  test('a list that is making a company is waited for, and named when it does not end', async () => {
    world = await openListWorld(sandbox, kind)
    await world.fetch()
    await world.index()
    const [one, two] = [await world.plan('german'), await world.plan('again')]
    const stopped = {
      ...world.connector,
      maker: { ...world.connector.maker!, create: () => Promise.reject(new Error('the process is gone')) },
    }
    await expect(world.apply(one.planId, { connector: stopped })).rejects.toThrow('the process is gone')
    const parked = await world.apply(two.planId, { waitMs: 0 })
    expect(parked).toMatchObject({ end: 'parked', waiting: 5, created: 0 })
    expect(parked.reason).toMatch(/run r\w+ of the list german is making 5 of these records/)
    expect(world.ids()).toEqual([])
    expect(await world.apply(one.planId)).toMatchObject({ created: 5 })
    expect(await world.apply(two.planId)).toMatchObject({ created: 0, exists: 5, end: 'finished' })
    expect(world.ids()).toHaveLength(5)
  })

  test('forget erases a company from plans, drafts and reservations, and undo leaves its record', async () => {
    world = await openListWorld(sandbox, kind)
    const rows = await world.fetch()
    await world.index()
    const { runId } = await world.apply((await world.plan()).planId)
    const reserved = (await world.reserved()).length
    const domain = String(rows[0]?.values['domain'])
    await forget(world.context, [{ kind: 'domain', value: domain, isCompany: true }], { suppress: false })
    const [gone] = await world.made()
    expect(gone).toMatchObject({
      identity: {},
      identities: [],
      snapshot: null,
      record_id: null,
      lookup_key: null,
    })
    expect(gone?.key).toMatch(/^forgotten-/)
    const left = await world.reserved()
    expect(left.length).toBeLessThan(reserved)
    const kept = JSON.stringify([await world.made(), left, await world.planned()], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(kept).not.toContain(domain)
    expect(await world.takeBack(runId)).toMatchObject({ archived: 4, left: 1 })
    expect(world.ids()).toHaveLength(1)
  })
})
