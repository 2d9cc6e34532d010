import { join } from 'node:path'
import { expect } from 'vitest'
import { createDice } from '../../src/sandbox/random.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, startPaydirt, type Ended } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'
import { quick } from './crm-house.ts'
import { openCrm, type CrmKind } from './crm-worlds.ts'

const killAt = `--import=${join(import.meta.dirname, '../support/kill-at.ts')}`
const entities = { hubspot: 'companies', salesforce: 'Account' } as const
const profileOf = { hubspot: 'profnet_url', salesforce: 'Profnet_URL__c' } as const
const places = ['DE', 'US', 'FR', 'GB', 'JP', 'IN', 'NL', 'BR']
const sizes = ['2-10', '11-50', '51-200', '201-500', '501-1,000', '1,001-5,000', '5,001-10,000']
const perPage = 25

/** Lists that share no company: one for each country and size. */
function listsOf(kind: CrmKind, rows: number): Record<string, object> {
  const slices = places.flatMap((country) => sizes.map((size) => ({ country, size: `${size} employees` })))
  return Object.fromEntries(
    slices.map(({ country, size }, at) => [
      `round${at + 1}`,
      {
        search: 'company.search',
        filters: { countries: [country], sizes: [size] },
        into: { connector: kind, entity: entities[kind] },
        limit: rows,
        budgetUsd: '5',
      },
    ]),
  )
}

/** The ledger, the chain and the service's own count of pages that were paid twice. */
interface Books {
  differences: unknown[]
  pages: number
  transfers: number
  charges: number
  lost: string
  isSame: boolean
  paidTwice: number
}

/** Returns the books in which each page was paid once. */
export function paidOnce({ pages }: Pick<Books, 'pages'>): Books {
  return {
    differences: [],
    pages,
    transfers: pages,
    charges: pages,
    lost: '0.000000',
    isSame: true,
    paidTwice: 0,
  }
}

/**
 * Fetches, plans and applies one list after another by the command line, and kills the processes that fetch and apply at a request, behind
 * an answer, or at any moment. After each list every company is in the CRM once. Returns the books of the ledger, the service and the chain. The sandbox repeats the answers of a payment that it knows.
 */
export async function killLists(
  sandbox: Sandbox,
  kind: CrmKind,
  { kills, rows }: { kills: number; rows: number },
): Promise<Books> {
  const crm = await openCrm(kind, entities[kind])
  const desk = await openDesk(sandbox, {
    config: {
      connectors: quick,
      payment: { maxPricesUsd: { 'company.search': '0.05' } },
      lists: listsOf(kind, rows) as never,
    },
  })
  const paidTwiceBefore = sandbox.stats().keysPaidTwice
  const env = { ...crm.env(crm.baseUrl), PAYDIRT_LOG_LEVEL: 'silent' }
  const dice = createDice(`${testSeed()} ${kind} lists killed`)
  const trace: string[] = []
  let killed = 0
  const run = (...args: string[]) => desk.run(args, env)

  /** Kills a command so often, and returns its end where it came to one before. */
  async function killing(args: string[], times: number, most: number): Promise<Ended | undefined> {
    for (let tries = 0; tries < times && killed < kills; tries += 1) {
      const point = dice.pick(['request', 'answer', 'time'])
      const nth = point === 'time' ? dice.integer(300, 3_000) : dice.integer(1, most)
      const ended = await startPaydirt(args, {
        stores: desk.stores,
        sandbox,
        walletKey: desk.walletKey,
        cwd: desk.folder,
        env: { ...env, NODE_OPTIONS: killAt, TEST_KILL: `${point} ${nth}` },
      }).ended
      trace.push(
        `${args.slice(0, 2).join(' ')}: ${ended.signal === null ? 'ended' : 'killed'} ${point} ${nth}`,
      )
      if (ended.signal === null) return ended
      expect(ended.signal).toBe('SIGKILL')
      killed += 1
    }
    return undefined
  }

  try {
    const indexed = await run('index', kind, '--json')
    expect(indexed).toMatchObject({ status: 0 })
    let [made, pages] = [0, 0]
    for (let round = 1; killed < kills; round += 1) {
      const name = `round${round}`
      const fetching = ['lists', 'fetch', name, '--budget', '5', '--reachable-only', '--json']
      await killing(fetching, 2, 6)
      const fetched = await run(...fetching)
      expect(fetched).toMatchObject({ status: 0 })
      pages += Math.ceil(rows / perPage)
      const plan = await run('lists', 'plan', name, '--json')
      expect(plan).toMatchObject({ status: 0 })
      const { planId, creates, verdicts } = plan.json<{
        planId: string
        creates: number
        verdicts: { new: number; possible?: number }
      }>()
      // Some companies of the world have the same name: once one is a record, the others wait for a person.
      expect(creates + (verdicts.possible ?? 0)).toBe(rows)
      const applying = ['apply', planId, '--json']
      const applied = (await killing(applying, 3, 14)) ?? (await run(...applying))
      // Killed behind the end of the run, it finds the plan carried out.
      if (applied.status !== 0) expect(applied.stderr).toContain('was carried out')
      made += creates
      const profiles = crm.ids().map((id) => crm.state().get(id)?.[profileOf[kind]])
      expect({ list: name, records: profiles.length, companies: new Set(profiles).size }).toEqual({
        list: name,
        records: made,
        companies: made,
      })
    }
    const { chain, ledger, differences } = (await run('reconcile', '--json')).json<{
      chain: { amount: string; transfers: number }
      ledger: { charges: number; settled: string; lost: string }
      differences: unknown[]
    }>()
    process.stderr.write(
      `${kind}: ${killed} kills over ${pages / Math.ceil(rows / perPage)} lists, ${made} records, ${pages} pages, ${chain.transfers} payments; ${trace.filter((line) => line.includes('killed')).join(', ')}\n`,
    )
    return {
      differences,
      pages,
      transfers: chain.transfers,
      charges: ledger.charges,
      lost: ledger.lost,
      isSame: ledger.settled === chain.amount,
      paidTwice: sandbox.stats().keysPaidTwice - paidTwiceBefore,
    }
  } finally {
    await desk.close()
    await crm.stop()
  }
}
