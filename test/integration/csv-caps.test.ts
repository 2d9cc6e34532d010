import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
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

describe('a cap', () => {
  test('on the run parks what is above it, to the cent; raised, the same command goes on', async () => {
    await deskWith([...twelve('run-cap'), 'run-cap-3'])
    const capped = await desk.run(command, { PAYDIRT_BUDGET_RUN_USD: '0.05' })
    expect(capped.status).toBe(3)
    const first = capped.json<{ runId: string; tasks: { parked: number }; reasons: { reason: string }[] }>()
    expect(first).toMatchObject({ lookups: { unique: 12, paid: 5 }, spend: { settled: '0.050000' } })
    expect(first.reasons[0]?.reason).toContain('budget of this run (0.050000 USD)')
    expect(await desk.transfers()).toHaveLength(5)
    const parked = (await statuses()).filter(isParked).length
    expect(parked).toBe(first.tasks.parked)
    expect(parked).toBeGreaterThanOrEqual(7)

    // The same cap again changes nothing; a higher one gives what is missing.
    expect((await desk.run(command, { PAYDIRT_BUDGET_RUN_USD: '0.05' })).status).toBe(3)
    expect(await desk.transfers()).toHaveLength(5)
    const rest = await desk.run(command, { PAYDIRT_BUDGET_RUN_USD: '1' })
    expect(rest.status).toBe(0)
    expect(rest.json()).toMatchObject({
      runId: first.runId,
      lookups: { unique: 12, paid: 12, duplicates: 1 },
      tasks: { parked: 0 },
      spend: { settled: '0.120000' },
    })
    expect((await statuses()).some(isParked)).toBe(false)
    expect(await desk.transfers()).toHaveLength(12)
  })

  test('on the day counts all runs of the day', async () => {
    await deskWith(twelve('day-cap'))
    await desk.write('before.csv', makeFile(['day-cap-before-1', 'day-cap-before-2']).csv)
    const day = { PAYDIRT_BUDGET_DAY_USD: '0.06' }
    const before = await desk.run(
      ['csv', 'before.csv', '--object', 'company', '--out', 'before-out.csv'],
      day,
    )
    expect(before.status).toBe(0)
    const capped = await desk.run(command, day)
    expect(capped.status).toBe(3)
    expect(capped.json()).toMatchObject({ lookups: { paid: 4 }, spend: { settled: '0.040000' } })
    expect(await desk.transfers()).toHaveLength(6)
  })

  test('on the price refuses the challenge before anything is signed, and consumes nothing', async () => {
    await deskWith(['price-cap-1', 'price-cap-2'])
    const refused = await desk.run(command, { PAYDIRT_MAX_PRICE_USD: '0.009999' })
    expect(refused.status).toBe(3)
    expect(refused.json()).toMatchObject({ lookups: { paid: 0 }, tasks: { parked: 2 } })
    expect(refused.stdout).toContain('PAYDIRT_MAX_PRICE_USD')
    expect(await desk.transfers()).toEqual([])
    expect((await desk.run(command)).status).toBe(0)
    expect(await desk.transfers()).toHaveLength(2)
  })
})

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
})
