import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openContactDesk, type ContactDesk } from '../support/contact-desk.ts'

let sandbox: Sandbox
let desk: ContactDesk
// The sandbox counts what is paid for twice: no two tests ask for the same people.
let met = 0

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  desk = await openContactDesk(sandbox, met)
  met += desk.people.length
})
afterEach(() => desk.close())

test('lookups that wait go out together, and each has its part of the price', async () => {
  const { people, known, total } = desk
  const before = sandbox.stats().byEndpoint
  const ended = await desk.run(desk.command)
  expect(ended.status).toBe(0)
  expect(ended.json<RunSummary>()).toMatchObject({
    records: people.length,
    lookups: { unique: people.length, paid: people.length + known.length, cached: 0, duplicates: 0 },
    spend: { settled: total, inDoubt: '0.000000', lost: '0.000000' },
  })
  await desk.everyEmailIsThere()
  const after = sandbox.stats().byEndpoint
  // Ten to a request and a challenge for each size; nobody was asked for alone.
  expect((after.contacts_batch ?? 0) - (before.contacts_batch ?? 0)).toBeLessThanOrEqual(2 + 2)
  expect(after.contacts ?? 0).toBe(before.contacts ?? 0)
  const { charges, shares } = await desk.money()
  expect(charges.length).toBeLessThanOrEqual(2 + Math.ceil(known.length / 4) + 2)
  expect(shares).toBe(charges.reduce((sum, { amount }) => sum + amount, 0n))
  const again = (await desk.run(desk.command)).json<RunSummary>()
  expect(again.spend.settled).toBe('0.000000')
  const fields = (await desk.run(['spend', '--by', 'field', '--json'])).json<{
    rows: { settled: string }[]
  }>()
  const split = fields.rows.reduce((sum, { settled }) => sum + Number(settled) * 1e6, 0)
  expect(Math.round(split)).toBe(Number(total) * 1e6)
})

test('a batch bears the names that the settings give to keys, as a single request does', async () => {
  const people = { only: ['contacts', 'contacts_batch'], from: 'domain', to: 'company_domain' }
  const types = {
    only: ['redemptions', 'redemptions_batch'],
    from: 'people_contact_types',
    to: 'contact_types',
  }
  sandbox.faults.set({ renamedKeys: [people, types] })
  onTestFinished(() => void sandbox.faults.set({ renamedKeys: [] }))
  const renaming = await openContactDesk(sandbox, met, {
    operations: {
      'contact.lookup': { rename: { [people.from]: people.to } },
      'contact.redeem': { rename: { [types.from]: types.to } },
    },
  })
  met += renaming.people.length
  onTestFinished(() => renaming.close())
  const before = sandbox.stats().byEndpoint
  expect((await renaming.run(renaming.command)).status).toBe(0)
  await renaming.everyEmailIsThere()
  const after = sandbox.stats().byEndpoint
  expect((after.contacts_batch ?? 0) - (before.contacts_batch ?? 0)).toBeGreaterThan(0)
  expect((after.redemptions_batch ?? 0) - (before.redemptions_batch ?? 0)).toBeGreaterThan(0)
})

test('a cap below a bundle lets its lookups go alone, as far as what is left pays for them', async () => {
  const ended = await desk.run(desk.command, { PAYDIRT_BUDGET_RUN_USD: '0.05' })
  expect(ended.status).toBe(3)
  const summary = ended.json<RunSummary>()
  expect(summary.tasks.parked).toBeGreaterThan(0)
  expect(summary.spend.settled).toBe('0.050000')
  const resumed = await desk.untilDone()
  expect(resumed.spend.settled).toBe(desk.total)
})
