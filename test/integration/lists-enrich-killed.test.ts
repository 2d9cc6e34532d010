import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ListPlan } from '../../src/app/lists/making/plan-list.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, startPaydirt, type Ended } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { testSeed } from '../support/seed.ts'
import { quick } from './crm-house.ts'
import { openCrm, sharedKinds } from './crm-worlds.ts'

let sandbox: Sandbox
// A payment that was sent before the kill is repeated under its own id, so that its answer is not lost. Each ledger buys the same rows,
// so each has a service of its own.
beforeEach(async () => void (sandbox = await startSandbox({ faults: { paymentIdentifier: true } })))
afterEach(() => sandbox.stop())

const killAt = `--import=${join(import.meta.dirname, '../support/kill-at.ts')}`
const inCrm = {
  hubspot: { entity: 'contacts', profile: 'profnet_url', email: 'email', last: 'lastname' },
  salesforce: { entity: 'Contact', profile: 'Profnet_URL__c', email: 'Email', last: 'LastName' },
} as const

const prices = {
  'people.search': '0.05',
  'contact.redeem:email-work': '0.15',
  'contact.redeem:phone': '0.30',
}

/** The address that a lookup reveals: one that is verified goes before an old one. */
function emailOf(profile: unknown): string | undefined {
  const work = contactsOf(String(profile).split('/').at(-1)!).emails.filter(({ type }) => type === 'work')
  return (work.find(({ status }) => status === 'Verified') ?? work[0])?.value
}

// Its processes take more time than the short size has.
test.skipIf(!isFullSize).each(sharedKinds)(
  'rows are looked up once, made once, and nothing bought is lost, however often apply is killed, in %s',
  { timeout: 900_000 },
  async (kind) => {
    const names = inCrm[kind]
    // The wallet of a test pays for no more.
    const limit = sized(24, 8)
    const crm = await openCrm(kind, names.entity)
    const desk = await openDesk(sandbox, {
      config: {
        connectors: quick,
        payment: { maxPricesUsd: prices },
        lists: {
          heads: {
            search: 'people.search',
            filters: { people_titles: ['Head'] },
            recipe: 'contact',
            into: { connector: kind, entity: names.entity, associate: false, update: true },
            limit,
            budgetUsd: '5',
          },
        } as never,
      },
    })
    const paidTwice = sandbox.stats().keysPaidTwice
    const env = { ...crm.env(crm.baseUrl), PAYDIRT_LOG_LEVEL: 'silent' }
    const dice = createDice(`${testSeed()} ${kind} enriching killed`)
    const run = (...args: string[]) => desk.run(args, env)
    const trace: string[] = []

    /** Kills a command at a request, behind an answer or at any moment, and then lets it come to its end. */
    async function killing(args: string[], times: number): Promise<Ended> {
      for (let tries = 0; tries < times; tries += 1) {
        const point = dice.pick(['request', 'answer', 'time'])
        const nth = point === 'time' ? dice.integer(1_000, 6_000) : dice.integer(4, 40)
        const ended = await startPaydirt(args, {
          stores: desk.stores,
          sandbox,
          walletKey: desk.walletKey,
          cwd: desk.folder,
          env: { ...env, NODE_OPTIONS: killAt, TEST_KILL: `${point} ${nth}` },
        }).ended
        trace.push(`${ended.signal === null ? 'ended' : 'killed'} ${point} ${nth}`)
        if (ended.signal === null) return ended
        expect(ended.signal).toBe('SIGKILL')
      }
      return run(...args)
    }

    try {
      expect(
        await run('lists', 'fetch', 'heads', '--budget', '5', '--reachable-only', '--json'),
      ).toMatchObject({ status: 0 })
      const members = (await run('lists', 'members', 'heads', '--json')).json<
        { values: Record<string, unknown> }[]
      >()
      const emails = members.flatMap(({ values }) => emailOf(values['profnet_url']) ?? [])
      // Only the e-mail that is bought tells that this is one of the rows.
      const there = crm.add({ [names.last]: 'Known otherwise', [names.email]: emails[0]! })
      expect(await run('index', kind, '--json')).toMatchObject({ status: 0 })
      const plan = (await run('lists', 'plan', 'heads', '--json')).json<ListPlan>()
      expect(plan).toMatchObject({ creates: members.length, refusals: [] })

      const applied = await killing(['apply', plan.planId, '--json'], sized(8, 4))
      // Killed behind the end of its run, it finds the plan carried out.
      if (applied.status !== 0) expect(applied.stderr).toContain('was carried out')
      expect(trace.some((each) => each.startsWith('killed'))).toBe(true)
      process.stderr.write(`${kind}: ${trace.join(', ')}\n`)

      expect(crm.ids()).toHaveLength(members.length)
      const records = crm.ids().map((id) => crm.state().get(id)!)
      const profiles = records.flatMap((values) => values[names.profile] ?? [])
      expect(new Set(profiles).size).toBe(profiles.length)
      expect(records.map((values) => values[names.email])).toEqual(expect.arrayContaining(emails))
      expect(crm.state().get(there)).toMatchObject({ [names.last]: 'Known otherwise' })

      const { chain, ledger, differences } = (await run('reconcile', '--json')).json<{
        chain: { amount: string }
        ledger: { settled: string; lost: string }
        differences: unknown[]
      }>()
      expect(differences).toEqual([])
      expect(ledger).toMatchObject({ lost: '0.000000', settled: chain.amount })
      expect(sandbox.stats().keysPaidTwice - paidTwice).toBe(0)
      // No cent more than the plan said.
      const { settled } = (await run('runs', '--json'))
        .json<{ connector: string; settled: string }[]>()
        .find(({ connector }) => connector === 'list')!
      expect(Number(settled)).toBeGreaterThan(0)
      expect(Number(settled)).toBeLessThanOrEqual(Number(plan.enrichment?.uncapped.high))
    } finally {
      await desk.close()
      await crm.stop()
    }
  },
)
