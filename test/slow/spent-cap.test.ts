import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { ChargeJournal } from '../../src/domain/ports/charge-journal.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse, type House } from '../support/house.ts'
import { makeFile } from '../support/spellings.ts'

const rows = 60
let sandbox: Sandbox
let house: House
let reservations = 0

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const counted = (journal: ChargeJournal): ChargeJournal => ({
  ...journal,
  reserve: (charge) => ((reservations += 1), journal.reserve(charge)),
})

async function open(env: Record<string, string>) {
  reservations = 0
  house = await openHouse(sandbox, {
    env,
    config: { pacing: { startPerSecond: 5, maxPerSecond: 5 } },
    overrides: { journal: counted },
  })
}

const file = (name: string) => makeFile(Array.from({ length: rows }, (_, at) => `${name}-${at}`))

test('at a spent cap the rest is parked at once, and not at the pace of lookups', async () => {
  await open({ PAYDIRT_BUDGET_RUN_USD: '0.02' })
  const { end, summary, rows: written } = await house.enrich(file('spent'))
  expect(end).toBe('parked')
  expect(summary).toMatchObject({ lookups: { paid: 2 }, spend: { settled: '0.020000' } })
  expect(summary.tasks.parked).toBe(written.filter((row) => row['paydirt_status'] === 'parked').length)
  expect(summary.tasks.parked).toBeGreaterThanOrEqual(rows - 2)
  for (const row of written.slice(-5)) expect(row['paydirt_reason']).toContain('budget of this run')
  expect(reservations).toBeLessThan(rows / 3)
  // Raised, the same file goes on where it was.
  Object.assign(house.context.config.caps, { runAtomic: 40_000n })
  const more = await house.enrich(file('spent'))
  expect(more.summary).toMatchObject({ lookups: { paid: 4 }, runId: summary.runId })
  expect(await house.transfers()).toHaveLength(4)
})

test('so it is when spending is stopped, and resuming makes all of it due again', async () => {
  await open({})
  await house.context.spendSwitch.stop('enough')
  const { end, summary } = await house.enrich(file('stopped'))
  expect(end).toBe('parked')
  expect(summary).toMatchObject({ lookups: { paid: 0 }, tasks: { parked: expect.any(Number) } })
  expect(reservations).toBeLessThan(rows / 3)
  const { context } = house
  await context.spendSwitch.resume()
  expect(await context.lookups.unparkBy(['stopped'])).toBe(rows)
})
