import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { contactsOf } from '../../src/sandbox/data/contacts.ts'
import { member, type Member } from '../../src/sandbox/data/directory.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'

let sandbox: Sandbox
let desk: Desk
const people = Array.from({ length: 24 }, (_, index) => member(4_000 + index))
const has = ({ slug }: Member, wanted: string) => contactsOf(slug).emails.some(({ type }) => type === wanted)
const direct = {
  PAYDIRT_API_KEY: API_KEY,
  PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
  PAYDIRT_WALLET_KEY: undefined,
}

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  desk = await openDesk(sandbox, {
    fundsAtomic: 0n,
    config: {
      payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15' } },
      budgets: { creditsRun: 500 },
      recipes: { mail: { person: { fields: ['email'], steps: ['contact.lookup', 'contact.redeem'] } } },
    } as never,
  })
  const rows = people.map((each) => `${each.firstName},${each.lastName},${each.employer.domain}`)
  await desk.write('in.csv', `first_name,last_name,domain\n${rows.join('\n')}\n`)
})
afterEach(() => desk.close())

const command = ['csv', 'in.csv', '--object', 'person', '--recipe', 'mail', '--out', 'out.csv', '--json']

test('direct access reserves the most that a request can cost, and settles what the service says', async () => {
  const run = await desk.run(command, direct)
  expect(run).toMatchObject({ status: 0 })
  const known = people.filter(({ unknown }) => !unknown)
  // One credit a match, 15 an e-mail that is returned. A miss is free.
  const credits = known.length + known.filter((each) => has(each, 'work')).length * 15
  const reconciled = await desk.run(['reconcile', '--json'], direct)
  expect(reconciled.json()).toMatchObject({
    service: [{ currency: 'credit', ledger: `${credits}.000000`, difference: '0.000000' }],
  })
  // The unused part of the run's budget is there for the next.
  expect(run.json<RunSummary>().tasks.parked).toBe(0)
  const spent = (await desk.run(['spend', '--json'], direct)).stdout
  expect(spent).toContain(`${credits}.000000`)
  expect((await desk.run(['runs'], direct)).stdout).toContain(`  ${credits} credits  in.csv`)
  const { runId } = run.json<RunSummary>()
  const report = (await desk.run(['report', runId], direct)).stdout
  expect(report).toContain(`  paid       ${credits} credits\n`)
  expect(report).toMatch(/^  cost {7}[\d.]+ credits per matched record, [\d.]+ credits per filled field$/m)
  expect(report).not.toContain('USD')
  expect((await desk.run(['report', runId, '--csv'], direct)).stdout).toContain(`,${credits}.000000\n`)
})

test('a recipe with a step above its cap does not begin, and says what to allow', async () => {
  const recipe = ['csv', 'in.csv', '--object', 'person', '--recipe', 'contact', '--out', 'out.csv', '--json']
  const before = sandbox.stats().requests
  const run = await desk.run(recipe, direct)
  expect(run.status).toBe(2)
  // The work e-mail is within its cap; phones are not.
  expect(run.stderr).toContain("maxPricesUsd: { 'contact.redeem:phone': '0.30' }")
  expect(sandbox.stats().requests).toBe(before)
})
