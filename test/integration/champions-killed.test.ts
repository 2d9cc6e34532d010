import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ChampionRun } from '../../src/app/champions/run-champions.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, startPaydirt, type Ended } from '../support/cli.ts'
import { isFullSize } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'
import { employerOf, known, openCareers, type Career } from './champions.fixture.ts'
import { quick } from './crm-house.ts'
import { openCrm, sharedKinds, type Values } from './crm-worlds.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox({ faults: { paymentIdentifier: true } })))
afterAll(() => sandbox.stop())

const killAt = `--import=${join(import.meta.dirname, '../support/kill-at.ts')}`
const inCrm = {
  hubspot: {
    people: 'contacts',
    companies: 'companies',
    profile: 'profnet_url',
    former: 'paydirt_former_record',
    left: 'paydirt_left_company_at',
    names: ['firstname', 'lastname', 'email'],
    filter: 'lifecyclestage=customer',
    customer: { lifecyclestage: 'customer' } as Values,
    owner: 'hubspot_owner_id',
  },
  salesforce: {
    people: 'Contact',
    companies: 'Account',
    profile: 'Profnet_URL__c',
    former: 'Paydirt_Former_Record__c',
    left: 'Paydirt_Left_Company_At__c',
    names: ['FirstName', 'LastName', 'Email'],
    filter: 'LeadSource=Web',
    customer: { LeadSource: 'Web' } as Values,
    owner: 'OwnerId',
  },
} as const

// Its processes take more time than the short size has.
test.skipIf(!isFullSize).each(sharedKinds)(
  'champions are bought, marked, made and noted once, and taken back whole, however often the commands are killed, in %s',
  { timeout: 900_000 },
  async (kind) => {
    const names = inCrm[kind]
    const people = known(10, kind === 'hubspot' ? 2_600 : 2_800)
    const moved = people.slice(0, 4)
    const gone = people.slice(0, 6)
    const careers = new Map<string, Career>(
      gone.map(({ slug }, at) => [slug, at < moved.length ? 'moved' : 'left']),
    )
    const edge = await openCareers(sandbox, people, careers)
    const crm = await openCrm(kind, names.people)
    const companies = crm.of(names.companies)
    const noting = { note: true, task: { title: 'Say hello', dueDays: 2 } }
    const desk = await openDesk(
      { ...sandbox, serviceUrl: edge.url },
      {
        config: {
          connectors: quick,
          champions: {
            customers: {
              connector: kind,
              filter: names.filter,
              budgetUsd: '5',
              onLeave: noting,
              onJoin: noting,
            },
          } as never,
        },
      },
    )
    const env = { ...crm.env(crm.baseUrl), PAYDIRT_LOG_LEVEL: 'silent' }
    const dice = createDice(`${testSeed()} ${kind} champions killed`)
    const run = (...args: string[]) => desk.run(args, env)
    let killed = 0

    /** Kills a command so often, each time at another point, and then lets it come to its end. */
    async function killing(args: string[], times: number, most: number): Promise<Ended> {
      for (let tries = 0; tries < times; tries += 1) {
        const ended = await startPaydirt(args, {
          stores: desk.stores,
          sandbox: { ...sandbox, serviceUrl: edge.url },
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

    try {
      const records = new Map(
        people.map(({ slug, firstName, lastName, employer }) => {
          const [first, last, email] = names.names
          const values: Values = {
            ...names.customer,
            // Tasks belong to the owner, and may be deleted by us where the record may.
            [names.owner]: crm.owners[0],
            [first]: firstName,
            [last]: lastName,
            [email]: `${slug}@${employer.domain}`,
            [names.profile]: `https://www.profnet.com/in/${slug}`,
          }
          return [slug, crm.add(values)]
        }),
      )
      expect(await run('index', kind, '--json')).toMatchObject({ status: 0 })
      const there = new Set(crm.ids())
      const ended = await killing(['champions', 'run', 'customers', '--json'], 25, 18)
      expect({ status: ended.status, stderr: ended.stderr }).toMatchObject({ status: 0 })

      const marked = people.filter(
        ({ slug }) => crm.state().get(records.get(slug)!)?.[names.left] !== undefined,
      )
      expect(marked.map(({ slug }) => slug)).toEqual(gone.map(({ slug }) => slug))
      const made = crm.ids().filter((id) => !there.has(id))
      const formers = made.map((id) => crm.state().get(id)?.[names.former])
      expect(formers.toSorted()).toEqual(moved.map(({ slug }) => records.get(slug)!).toSorted())
      expect(made.map((id) => crm.companiesOf(id).length)).toEqual(moved.map(() => 1))
      expect(companies.ids()).toHaveLength(new Set(moved.map((each) => employerOf(each).slug)).size)
      const markers = crm.markers()
      expect(new Set(markers).size).toBe(markers.length)
      expect(markers).toHaveLength((gone.length + moved.length) * 2)
      // Each question was paid once, whatever was killed after it.
      const paid = await sandbox.transfersFrom(desk.wallet)
      expect(paid).toHaveLength(edge.asked.size)
      expect(await run('reconcile', '--json')).toMatchObject({ status: 0 })
      const again = await run('champions', 'run', 'customers', '--json')
      expect(again.json<ChampionRun>()).toMatchObject({ due: 0, bought: 0, joined: { made: 0 } })

      // The undo of each, the newest first, takes everything back. A run that only bought has nothing to take back.
      const runs = (await run('runs', '--limit', '200', '--json')).json<{ runId: string }[]>()
      for (const { runId } of runs) await killing(['undo', runId, '--json'], 3, 20)
      expect(crm.ids().filter((id) => !there.has(id))).toEqual([])
      expect(companies.ids()).toEqual([])
      expect(crm.markers()).toEqual([])
      expect(killed).toBeGreaterThan(8)
      process.stderr.write(`${kind}: ${killed} kills, ${paid.length} answers, ${made.length} records\n`)
    } finally {
      edge.close()
      await crm.stop()
      await desk.close()
    }
  },
)
