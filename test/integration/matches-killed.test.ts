import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { people } from '../../src/sandbox/world/people.ts'
import { openDesk, startPaydirt, type Ended } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'
import { quick } from './crm-house.ts'
import { openCrm, sharedKinds } from './crm-worlds.ts'

// One each: its count of what was paid twice knows no ledgers.
let sandbox: Sandbox
// It repeats the answers of a payment that it knows, so that a kill loses none.
beforeEach(async () => void (sandbox = await startSandbox({ faults: { paymentIdentifier: true } })))
afterEach(() => sandbox.stop())

const killAt = `--import=${join(import.meta.dirname, '../support/kill-at.ts')}`
const program = join(import.meta.dirname, '../support/work-match.ts')
const names = {
  hubspot: { people: 'contacts', companies: 'companies' },
  salesforce: { people: 'Contact', companies: 'Account' },
} as const
const employers = [...Map.groupBy(people(), (each) => each.employer.domain).values()]
  .filter((colleagues) => colleagues.length >= 3)
  .map(([one]) => one!.employer.domain)

// Its processes take more time than the short size has.
test.skipIf(!isFullSize).each(sharedKinds)(
  'a match is worked once, however often its process is killed, in %s',
  { timeout: 900_000 },
  async (kind) => {
    const of = names[kind]
    const crm = await openCrm(kind, of.companies)
    const desk = await openDesk(sandbox, {
      config: {
        connectors: quick,
        payment: { maxPricesUsd: { 'people.search': '0.05', 'contact.redeem:email-work': '0.15' } },
      },
    })
    const env = { ...crm.env(crm.baseUrl), PAYDIRT_LOG_LEVEL: 'silent' }
    const dice = createDice(`${testSeed()} ${kind} matches killed`)
    const declared = JSON.stringify({
      connector: kind,
      create: true,
      recipe: 'contact',
      people: { perCompany: 2, contact: ['email'] },
      note: true,
      task: { title: 'Call them', dueDays: 2 },
    })
    let killed = 0
    const work = (domain: string, kill?: string): Promise<Ended> =>
      startPaydirt(
        [
          declared,
          JSON.stringify({
            company: { serviceId: null, identity: { domain }, values: {} },
            signals: [{ title: 'They hire', url: 'https://news.example/1', at: null }],
          }),
        ],
        {
          stores: desk.stores,
          sandbox,
          walletKey: desk.walletKey,
          cwd: desk.folder,
          program,
          env: kill === undefined ? env : { ...env, NODE_OPTIONS: killAt, TEST_KILL: kill },
        },
      ).ended

    try {
      expect(await desk.run(['index', kind, '--json'], env)).toMatchObject({ status: 0 })
      const rounds = sized(4, 1)
      for (const domain of employers.slice(0, rounds)) {
        for (let tries = 0; tries < sized(8, 2); tries += 1) {
          const ended = await work(domain, `${dice.pick(['request', 'answer'])} ${dice.integer(2, 40)}`)
          if (ended.signal !== null) killed += 1
          else expect(ended).toMatchObject({ status: 0 })
        }
        let last = await work(domain)
        // A note that was sent is looked for, and sent again only when the CRM cannot be at work on it any more.
        expect({ status: last.status, stderr: last.stderr }).toMatchObject({ status: 0 })
        if (last.json()['state'] !== 'done') last = await work(domain)
        expect(['done', 'waiting']).toContain(last.json()['state'])
      }
      const domains = crm.ids().length
      expect(domains).toBe(rounds)
      const staff = crm.of(of.people).ids()
      expect(staff.length).toBe(2 * rounds)
      for (const id of staff) expect(crm.companiesOf(id)).toHaveLength(1)
      // One that was sent when the process died goes on later, so that there may be fewer, and never two.
      const markers = crm.markers()
      expect(new Set(markers).size).toBe(markers.length)
      expect(markers.length).toBeLessThanOrEqual(2 * rounds)
      const { differences, ledger } = (await desk.run(['reconcile', '--json'], env)).json<{
        differences: unknown[]
        ledger: { lost: string }
      }>()
      expect(differences).toEqual([])
      expect(ledger.lost).toBe('0.000000')
      expect(sandbox.stats().keysPaidTwice).toBe(0)
      process.stderr.write(
        `${kind}: ${killed} kills, ${rounds} companies, ${staff.length} people, ${markers.length} notes and tasks\n`,
      )
    } finally {
      await desk.close()
      await crm.stop()
    }
  },
)
