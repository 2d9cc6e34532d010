import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { RunSummary } from '../../src/app/summary.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { member, type Member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'

let sandbox: Sandbox
let desk: Desk

let people: Member[]
let known: Member[]
let total: string
let met = 0
const workEmails = ({ slug }: Member) => contactsOf(slug).emails.filter(({ type }) => type === 'work')
const config = {
  payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15' } },
  bulk: { contactLookup: 10, redemption: 4 },
  recipes: {
    mail: { person: { fields: ['full_name', 'email'], steps: ['contact.lookup', 'contact.redeem'] } },
  },
} as const
const command = ['csv', 'in.csv', '--object', 'person', '--recipe', 'mail', '--out', 'out.csv', '--json']
beforeAll(async () => {
  // A server that repeats its answers: what a kill cuts off is had again, and nothing may be lost.
  sandbox = await startSandbox({ faults: { paymentIdentifier: true } })
})
afterAll(() => sandbox.stop())
beforeEach(async () => {
  // People whom no test before has asked for: the sandbox counts what is paid for twice.
  people = Array.from({ length: 18 }, () => member(met++))
  known = people.filter(({ unknown }) => !unknown)
  // A match costs 0.01 and is challenged for found or not; an e-mail 0.15, as the challenge has the ceiling.
  total = ((people.length * 1 + known.length * 15) / 100).toFixed(6)
  const rows = people.map((each) => `${each.firstName},${each.lastName},${each.employer.domain}`)
  desk = await openDesk(sandbox, { config: config as never })
  await desk.write('in.csv', `first_name,last_name,domain\n${rows.join('\n')}\n`)
})
afterEach(() => desk.close())

describe('lookups that wait', () => {
  test('go out together, and each has its part of the price', async () => {
    const before = sandbox.stats().byEndpoint
    const ended = await desk.run(command)
    const summary = ended.json<RunSummary>()
    expect(ended.status).toBe(0)
    expect(summary).toMatchObject({
      records: people.length,
      lookups: { unique: people.length, paid: people.length + known.length, cached: 0, duplicates: 0 },
      spend: { settled: total, inDoubt: '0.000000', lost: '0.000000' },
    })
    await everyEmailIsThere()
    const after = sandbox.stats().byEndpoint
    // Ten to a request and a challenge for the first; nobody was asked for alone.
    expect((after.contacts_batch ?? 0) - (before.contacts_batch ?? 0)).toBeLessThanOrEqual(2 + 2)
    expect(after.contacts ?? 0).toBe(before.contacts ?? 0)
    const { charges, shares } = await money()
    expect(charges.length).toBeLessThanOrEqual(2 + Math.ceil(known.length / 4) + 2)
    expect(shares).toBe(charges.reduce((sum, { amount }) => sum + amount, 0n))
    const again = (await desk.run(command)).json<RunSummary>()
    expect(again.spend.settled).toBe('0.000000')
    const fields = (await desk.run(['spend', '--by', 'field', '--json'])).json<{
      rows: { settled: string }[]
    }>()
    const split = fields.rows.reduce((sum, { settled }) => sum + Number(settled) * 1e6, 0)
    expect(Math.round(split)).toBe(Number(total) * 1e6)
  }, 120_000)
})

test('a cap below a bundle lets its lookups go alone, as far as what is left pays for them', async () => {
  const ended = await desk.run(command, { PAYDIRT_BUDGET_RUN_USD: '0.05' })
  expect(ended.status).toBe(3)
  const summary = ended.json<RunSummary>()
  expect(summary.tasks.parked).toBeGreaterThan(0)
  expect(summary.spend.settled).toBe('0.050000')
  const resumed = await untilDone()
  expect(resumed.spend.settled).toBe(total)
}, 120_000)

/** A run that a kill left in doubt parks until the chain is sure: the same command goes on. */
async function untilDone(): Promise<RunSummary> {
  for (;;) {
    const ended = await desk.run(command)
    if (ended.status === 0) return ended.json<RunSummary>()
    expect(ended).toMatchObject({ status: 3 })
  }
}

async function everyEmailIsThere(): Promise<void> {
  const rows = await desk.rows('out.csv')
  const expected = people.map((each) => (each.unknown ? '' : (workEmails(each)[0]?.value ?? '')))
  expect(rows.map((row) => row['email'] !== '')).toEqual(expected.map((email) => email !== ''))
  rows.forEach((row, index) => {
    const mine = people[index] as Member
    if (row['email'] !== '')
      expect(workEmails(mine).map(({ value }) => value.toLowerCase())).toContain(row['email'])
  })
}

async function money() {
  const { stores } = desk
  const database = await openDatabase({
    dataDir: join(stores.dataDir, 'data'),
    ...(stores.databaseUrl ? { url: stores.databaseUrl } : {}),
  })
  try {
    const charges = await database.db
      .selectFrom('charges')
      .select(['amount_atomic as amount'])
      .where('state', '=', 'settled')
      .execute()
    const { rows } = await sql<{ shares: bigint }>`
      select sum(amount_atomic)::bigint as shares from charge_shares where state = 'settled'`.execute(
      database.db,
    )
    return { charges, shares: rows[0]?.shares ?? 0n }
  } finally {
    await database.close()
  }
}
