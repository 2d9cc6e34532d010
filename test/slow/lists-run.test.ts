import { mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { runList } from '../../src/app/lists/running/run-list.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, paydirt as runPaydirt } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'
import { quick, roomy } from '../integration/crm-house.ts'
import { sharedKinds } from '../integration/crm-worlds.ts'
import { openListWorld, type ListWorld } from '../integration/lists-create.fixture.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

describe.each(sharedKinds)('a run of a list in %s', (kind) => {
  let world: ListWorld
  afterEach(() => world.close())

  const run = async (more: object = {}, name = 'german') =>
    runList(world.context, await world.calls(name), {
      connector: world.connector,
      budgetAtomic: 1_000_000n,
      reachableOnly: true,
      signal: new AbortController().signal,
      ...more,
    })
  const plans = () =>
    world.context.database.db.selectFrom('plans').select(['id', 'run_id', 'job']).orderBy('id').execute()

  test('buys, plans and makes; the same again buys and makes nothing', async () => {
    world = await openListWorld(sandbox, kind, { limit: 30 })
    await world.index()
    const paid = (await world.transfers()).length
    expect(await run()).toMatchObject({
      end: 'finished',
      fetched: { bought: 2 },
      plan: { creates: 30 },
      applied: { created: 30, end: 'finished' },
    })
    expect(await run()).toMatchObject({ end: 'finished', fetched: { bought: 0 }, plan: { creates: 0 } })
    expect((await world.transfers()).length - paid).toBe(2)
    expect(world.ids()).toHaveLength(30)
    expect(await plans()).toHaveLength(1)
  })

  test('makes nothing of a part of the list, and goes on with another budget', async () => {
    world = await openListWorld(sandbox, kind, { limit: 30 })
    await world.index()
    expect(await run({ budgetAtomic: 60_000n })).toMatchObject({ end: 'budget', fetched: { bought: 1 } })
    expect(await plans()).toEqual([])
    expect(await run()).toMatchObject({ fetched: { bought: 1 }, applied: { created: 30 } })
  })

  test('goes on with its plan after a crash, and begins no second one', async () => {
    world = await openListWorld(sandbox, kind)
    await world.index()
    const { maker } = world.connector
    const gone = { ...maker!, create: () => Promise.reject(new Error('the process is gone')) }
    await expect(run({ connector: { ...world.connector, maker: gone } })).rejects.toThrow('is gone')
    const [plan, ...others] = await plans()
    expect(others).toEqual([])
    expect(await run()).toMatchObject({
      continued: plan?.id,
      end: 'finished',
      applied: { planId: plan?.id, runId: plan?.run_id, created: 5 },
    })
    expect(world.ids()).toHaveLength(5)
    expect(await plans()).toHaveLength(1)
    expect((await run()).continued).toBeUndefined()
  })

  test('takes over a plan that was claimed and not begun; one of other settings is given up', async () => {
    world = await openListWorld(sandbox, kind)
    await world.fetch()
    await world.index()
    const { planId } = await world.plan()
    const { db } = world.context.database
    const claim = () =>
      db
        .updateTable('plans')
        .set({ job: JSON.stringify({ ...job, isClaimed: true }) })
        .where('id', '=', planId)
        .execute()
    const [{ job } = { job: {} }] = await plans()
    await claim()
    const stopped = AbortSignal.abort()
    expect(await run({ signal: stopped })).toMatchObject({ continued: planId, end: 'interrupted' })
    expect(await run()).toMatchObject({ continued: planId, applied: { created: 5 } })
  })

  test('that was begun under other settings is refused, until it is given up', async () => {
    world = await openListWorld(sandbox, kind)
    await world.index()
    const { maker } = world.connector
    const gone = { ...maker!, create: () => Promise.reject(new Error('the process is gone')) }
    await expect(run({ connector: { ...world.connector, maker: gone } })).rejects.toThrow('is gone')
    const list = world.context.config.lists['german']!
    Object.assign(world.context.config.lists, { german: { ...list, requires: ['domain'] } })
    await expect(run()).rejects.toThrow(/run r\w+ of german has not ended, .*--stop/)
  })
})

describe('before anything is bought', () => {
  let hubspot: Awaited<ReturnType<typeof startHubspotStandIn>>
  let desk: Awaited<ReturnType<typeof openDesk>>
  const german = {
    search: 'company.search',
    filters: { countries: ['DE'] },
    into: { connector: 'hubspot', entity: 'companies' },
    limit: 5,
    budgetUsd: '1',
  }
  const lists = {
    german,
    constant: { ...german, into: { ...german.into, set: { lifecyclestag: 'lead' } } },
    value: { ...german, into: { ...german.into, set: { lifecyclestage: 'nobody' } } },
    owner: { ...german, into: { ...german.into, owner: '404404' } },
    former: { ...german, into: { ...german.into, owner: '71003' } },
    object: { ...german, into: { ...german.into, entity: 'deals' } },
    filter: { ...german, filters: { contries: ['DE'] } },
    unset: { ...german, into: { connector: 'salesforce', entity: 'Account' } },
    poor: { ...german, budgetUsd: undefined },
  }
  beforeAll(async () => {
    hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 3, contacts: 0, limits: roomy })
    desk = await openDesk(sandbox, {
      config: {
        connectors: quick,
        payment: { maxPricesUsd: { 'company.search': '0.05' } },
        lists: lists as never,
      },
    })
  })
  afterAll(async () => {
    await desk.close()
    await hubspot.stop()
  })
  const paydirt = (...args: string[]) =>
    desk.run(args, { HUBSPOT_BASE_URL: hubspot.baseUrl, HUBSPOT_ACCESS_TOKEN: hubspot.token })
  let transfers = 0
  beforeEach(async () => void (transfers = (await sandbox.transfersFrom(desk.wallet)).length))
  afterEach(async () => {
    const bought = (await sandbox.transfersFrom(desk.wallet)).length - transfers
    if (bought !== 0) throw new Error(`${bought} pages were bought`)
  })

  test('a run without a complete index is refused, with the command that reads it', async () => {
    const refused = await paydirt('lists', 'run', 'german')
    expect(refused).toMatchObject({ status: 2, stdout: '' })
    expect(refused.stderr).toMatch(/the index of hubspot is not complete.*`paydirt index hubspot`/)
    expect(await paydirt('index', 'hubspot')).toMatchObject({ status: 0 })
  })

  test.each([
    [
      'constant',
      /lists\.constant\.into\.set: companies has no property lifecyclestag; near: .*lifecyclestage/,
    ],
    ['value', /lists\.value\.into\.set: lifecyclestage/],
    ['owner', /lists\.owner\.into\.owner: hubspot has no owner 404404/],
    ['former', /lists\.former\.into\.owner: .* any more/],
    ['object', /lists\.object.*no object deals/],
    ['filter', /lists\.filter: .*contries.*countries/],
    ['unset', /salesforce/],
    ['poor', /--budget, or as lists\.poor\.budgetUsd/],
    ['germna', /there is no list germna; near: german/],
  ])('the list %s is refused by a run, and by its plan', async (name, message) => {
    const refused = await paydirt('lists', 'run', name)
    expect({ status: refused.status, said: refused.stderr }).toEqual({
      status: 2,
      said: expect.stringMatching(message),
    })
    expect(refused.stderr.trim().split('\n')).toHaveLength(1)
    if (['poor', 'object'].includes(name)) return
    const planned = await paydirt('lists', 'run', name, '--plan')
    expect(`${planned.stdout}${planned.stderr}`).toMatch(message)
  })

  test('the plan of a run says what it would buy', async () => {
    const planned = (await paydirt('lists', 'run', 'german', '--plan', '--json')).json()
    expect(planned).toMatchObject({
      plan: true,
      list: 'german',
      unfinishedPlan: null,
      pagesToBuy: 1,
      isCountKnown: false,
      costAtMostUsd: '0.050000',
      refusals: [],
      records: null,
    })
    const text = (await paydirt('lists', 'run', 'german', '--plan')).stdout
    expect(text).toMatch(/would buy 1 page to know how many there are.*0\.050000 USD at most/)
    expect(text).toContain('Nothing was bought or written')
  })

  test.each([
    ['a limit below 1', { ...german, limit: 0 }, /lists\.wrong\.limit/],
    ['no `into`', { ...german, into: undefined }, /lists\.wrong\.into/],
    ['a CRM that there is not', { ...german, into: { connector: 'abacus', entity: 'x' } }, /into\.connector/],
    ['a field that there is not', { ...german, requires: ['domian'] }, /there is no field domian/],
  ])('settings with %s are refused by their place', async (_, wrong, message) => {
    // A folder each: a process reads the settings of a folder once.
    const cwd = await mkdtemp(join(desk.folder, 'wrong-'))
    await writeFile(join(cwd, 'paydirt.config.mjs'), `export default ${JSON.stringify({ lists: { wrong } })}`)
    const { stores } = desk
    const refused = await runPaydirt(['lists', 'run', 'wrong'], { stores, sandbox, cwd })
    expect({ status: refused.status, said: refused.stderr }).toEqual({
      status: 2,
      said: expect.stringMatching(message),
    })
  })

  test('a run without the rights to make and archive is refused, and doctor says so', async () => {
    hubspot.auth.scopes.delete('crm.objects.companies.write')
    try {
      const refused = await paydirt('lists', 'run', 'german')
      expect(refused.status).toBe(2)
      expect(refused.stderr).toMatch(/crm\.objects\.companies\.write/)
    } finally {
      hubspot.auth.scopes.add('crm.objects.companies.write')
    }
  })

  test('doctor says of each list what would be refused', async () => {
    const { findings } = (await paydirt('doctor', '--json')).json<{
      findings: { name: string; status: string; message: string; todo?: string }[]
    }>()
    const of = (list: string) =>
      findings
        .filter(({ name }) => name === `lists.${list}`)
        .map(({ status, message, todo = '' }) => `${status}: ${message}. ${todo}`)
    expect(of('german')).toEqual(['ok: hubspot takes its new companies. '])
    expect(of('constant')).toEqual([expect.stringMatching(/^problem: .*no property lifecyclestag/)])
    expect(of('owner')).toEqual([expect.stringMatching(/^problem: .*no owner 404404/)])
    expect(of('unset')).toEqual([expect.stringMatching(/^problem: .*salesforce, which is not set up/)])
  })
})
