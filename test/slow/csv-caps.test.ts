import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { makeFile } from '../support/spellings.ts'

const price = 10_000n
let sandbox: Sandbox
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(() => void sandbox.faults.reset())
afterEach(() => desk.close())

const command = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json']
const statuses = async () => (await desk.rows('out.csv')).map((row) => row['paydirt_status'])
const isParked = (status: string | undefined) => status === 'parked'

async function deskWith(slugs: string[], options: Parameters<typeof openDesk>[1] = {}): Promise<void> {
  desk = await openDesk(sandbox, options)
  await desk.write('in.csv', makeFile(slugs).csv)
}

const twelve = (name: string) => Array.from({ length: 12 }, (_, index) => `${name}-${index}`)

test('each cap parks what is above it, to the cent, and the same command goes on when it is raised', async () => {
  await deskWith([...twelve('cap'), 'cap-3'])
  await desk.write('before.csv', makeFile(['before-1', 'before-2']).csv)
  interface Summary {
    runId: string
    tasks: { parked: number }
    reasons: { reason: string }[]
  }

  // A price: refused before anything is signed, and nothing is consumed.
  const priced = await desk.run(command, { PAYDIRT_MAX_PRICE_USD: '0.009999' })
  expect(priced.status).toBe(3)
  expect(priced.json()).toMatchObject({ lookups: { unique: 12, paid: 0 }, tasks: { parked: 13 } })
  expect(priced.stdout).toContain('PAYDIRT_MAX_PRICE_USD')
  expect(await statuses()).toEqual(Array.from({ length: 13 }, () => 'parked'))
  expect(await desk.transfers()).toEqual([])

  const capped = await desk.run(command, { PAYDIRT_BUDGET_RUN_USD: '0.05' })
  expect(capped.status).toBe(3)
  const summary = capped.json<Summary>()
  expect(summary).toMatchObject({ lookups: { unique: 12, paid: 5 }, spend: { settled: '0.050000' } })
  expect(summary.reasons[0]?.reason).toContain('budget of this run (0.050000 USD)')
  expect(await desk.transfers()).toHaveLength(5)
  const parked = (await statuses()).filter(isParked).length
  expect(parked).toBe(summary.tasks.parked)
  expect(parked).toBeGreaterThanOrEqual(7)

  // The day counts all its runs: two more of another file, and then one of this.
  const day = { PAYDIRT_BUDGET_DAY_USD: '0.08' }
  const before = await desk.run(['csv', 'before.csv', '--object', 'company', '--out', 'before-out.csv'], day)
  expect(before.status).toBe(0)
  const daily = await desk.run(command, day)
  expect(daily.status).toBe(3)
  expect(daily.json()).toMatchObject({ runId: summary.runId, lookups: { paid: 6 } })
  expect(daily.stdout).toContain('budget of this day (0.080000 USD)')
  expect(await desk.transfers()).toHaveLength(8)

  const rest = await desk.run(command)
  expect(rest.status).toBe(0)
  expect(rest.json()).toMatchObject({
    runId: summary.runId,
    lookups: { unique: 12, paid: 12, duplicates: 1 },
    tasks: { parked: 0 },
    spend: { settled: '0.120000' },
  })
  expect((await statuses()).some(isParked)).toBe(false)
  expect(await desk.transfers()).toHaveLength(14)
}, 180_000)

test('a wallet that runs empty parks the work and says which wallet; filled, the same command ends it', async () => {
  await deskWith(twelve('wallet'), { fundsAtomic: 4n * price + 9_999n })
  const empty = await desk.run(['csv', 'in.csv', '--object', 'company', '--out', 'out.csv'])
  expect(empty.status).toBe(3)
  expect(empty.stdout).toContain(desk.wallet)
  expect(empty.stdout).toContain('send it USDC')
  expect(await desk.transfers()).toHaveLength(4)
  expect((await statuses()).filter(isParked)).toHaveLength(8)

  await sandbox.fund(desk.wallet, 8n * price)
  const rest = await desk.run(command)
  expect(rest.status).toBe(0)
  expect(rest.json()).toMatchObject({
    lookups: { paid: 12 },
    spend: { settled: '0.120000', lost: '0.000000' },
  })
  expect(await desk.transfers()).toHaveLength(12)
  expect(await sandbox.balanceOf(desk.wallet)).toBe(9_999n)
}, 180_000)
