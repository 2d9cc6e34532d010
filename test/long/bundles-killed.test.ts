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

describe.each([
  ['before a batch of contacts is answered', () => sandbox.stats().byEndpoint.contacts_batch ?? 0, 2],
  ['once a redemption was started and paid for', () => sandbox.stats().byEndpoint.redemptions_batch ?? 0, 3],
  ['while its answer is asked for', () => sandbox.stats().byEndpoint.redemptions_query ?? 0, 1],
] as const)('killed %s', (_, count, after) => {
  test('goes on where it stood, and pays nothing twice', async () => {
    const before = count()
    await desk.start(command).killWhen('SIGKILL', () => count() >= before + after)
    const summary = await untilDone()
    expect(summary.spend).toMatchObject({ settled: total, inDoubt: '0.000000', lost: '0.000000' })
    await everyEmailIsThere()
    expect(sandbox.stats().keysPaidTwice).toBe(0)
    const onChain = (await desk.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
    const { charges, shares } = await money()
    expect(onChain).toBe(charges.reduce((sum, { amount }) => sum + amount, 0n))
    expect(shares).toBe(onChain)
  }, 180_000)
})

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
