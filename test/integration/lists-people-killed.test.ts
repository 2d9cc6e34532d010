import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { AppliedList } from '../../src/app/lists/making/apply-list.ts'
import type { ListPlan } from '../../src/app/lists/making/plan-list.ts'
import type { UndoneRecords } from '../../src/app/records/undo-made.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, startPaydirt, type Ended } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'
import { quick } from './crm-house.ts'
import { openCrm, sharedKinds } from './crm-worlds.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

const killAt = `--import=${join(import.meta.dirname, '../support/kill-at.ts')}`
const inCrm = {
  hubspot: { people: 'contacts', companies: 'companies', profile: 'profnet_url' },
  salesforce: { people: 'Contact', companies: 'Account', profile: 'Profnet_URL__c' },
} as const

// Its processes take more time than the short size has.
test.skipIf(!isFullSize).each(sharedKinds)(
  'people are made and tied once, and taken back whole, however often the commands are killed, in %s',
  { timeout: 900_000 },
  async (kind) => {
    const names = inCrm[kind]
    const rows = sized(60, 8)
    const crm = await openCrm(kind, names.people)
    const companies = crm.of(names.companies)
    const list = (title: string) => ({
      search: 'people.search',
      filters: { people_titles: [title] },
      into: { connector: kind, entity: names.people },
      limit: rows,
      budgetUsd: '5',
    })
    const desk = await openDesk(sandbox, {
      config: {
        connectors: quick,
        payment: { maxPricesUsd: { 'people.search': '0.05' } },
        lists: { heads: list('Head'), engineers: list('Engineer') } as never,
      },
    })
    const env = { ...crm.env(crm.baseUrl), PAYDIRT_LOG_LEVEL: 'silent' }
    const dice = createDice(`${testSeed()} ${kind} people killed`)
    const run = (...args: string[]) => desk.run(args, env)
    let killed = 0

    /** Kills a command so often, each time at another point, and then lets it come to its end. */
    async function killing(args: string[], times: number, most: number): Promise<Ended> {
      for (let tries = 0; tries < times; tries += 1) {
        const ended = await startPaydirt(args, {
          stores: desk.stores,
          sandbox,
          walletKey: desk.walletKey,
          cwd: desk.folder,
          env: {
            ...env,
            NODE_OPTIONS: killAt,
            // The first comes early, so that one process is killed at least.
            TEST_KILL: `${dice.pick(['request', 'answer'])} ${tries === 0 ? 4 : dice.integer(3, most)}`,
          },
        }).ended
        if (ended.signal === null) return ended
        expect(ended.signal).toBe('SIGKILL')
        killed += 1
      }
      return run(...args)
    }

    async function plan(name: string): Promise<ListPlan> {
      expect(await run('lists', 'fetch', name, '--budget', '5', '--reachable-only', '--json')).toMatchObject({
        status: 0,
      })
      return (await run('lists', 'plan', name, '--json')).json<ListPlan>()
    }

    try {
      expect(await run('index', kind, '--json')).toMatchObject({ status: 0 })
      const first = await plan('heads')
      const applied = await killing(['apply', first.planId, '--json'], sized(20, 3), 30)
      if (applied.status !== 0) expect(applied.stderr).toContain('was carried out')
      const profiles = crm.ids().map((id) => crm.state().get(id)?.[names.profile])
      expect(profiles).toHaveLength(first.creates)
      expect(new Set(profiles).size).toBe(first.creates)
      expect(companies.ids()).toHaveLength(first.association!.creates)
      const ties = crm.ids().map((id) => crm.companiesOf(id))
      expect(ties.every(({ length }) => length === 1)).toBe(true)

      const [people, homes] = [crm.ids(), companies.ids()]
      const second = await plan('engineers')
      expect(second.creates).toBeGreaterThan(0)
      const { runId, end } = (await run('apply', second.planId, '--json')).json<AppliedList>()
      expect(end).toBe('finished')
      expect(crm.ids()).toHaveLength(first.creates + second.creates)
      const killedBefore = killed
      const undone = await killing(['undo', runId, '--json'], sized(20, 3), 12)
      expect(undone).toMatchObject({ status: 0 })
      expect(killed).toBeGreaterThan(killedBefore)
      expect(undone.json<UndoneRecords>()).toMatchObject({ left: 0 })
      process.stderr.write(
        `${kind}: ${killed} kills, ${first.creates} people tied once, ${second.creates} taken back\n`,
      )
      expect(crm.ids().sort()).toEqual(people.sort())
      // A company at which people of both lists work stays with the first.
      expect(companies.ids().sort()).toEqual(homes.sort())
    } finally {
      await desk.close()
      await crm.stop()
    }
  },
)
