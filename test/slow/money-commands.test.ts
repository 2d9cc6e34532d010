import { stat } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Reconciliation } from '../../src/app/money/reconcile.ts'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { sized } from '../support/full-size.ts'
import { makeFile } from '../support/spellings.ts'

let sandbox: Sandbox
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox)
})
afterEach(() => desk.close())

const csv = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json']
const slugs = (count: number) => Array.from({ length: count }, (_, index) => `money-${index}`)
const writeFile = (count: number) => desk.write('in.csv', makeFile(slugs(count)).csv)

describe('the kill switch', () => {
  test('stops the spending of a run that another process works on, holds over a restart, and lifts', async () => {
    const count = sized(200, 50)
    await writeFile(count)
    // So few at a time that the order to stop finds most of the file unpaid.
    await desk.write(
      'paydirt.config.mjs',
      'export default { pacing: { startPerSecond: 300, concurrency: 4 } }',
    )
    sandbox.faults.set({ latency: { minMs: 100, maxMs: 300 } })
    const before = sandbox.stats().settled
    const running = desk.start(csv)
    while (sandbox.stats().settled < before + 10) await new Promise((resolve) => setTimeout(resolve, 5))

    const stopped = await desk.run(['spend', '--stop', 'a wrong list'])
    expect(stopped).toMatchObject({ status: 0 })
    expect(stopped.stdout).toContain('spending is stopped')
    const ended = await running.ended
    expect(ended).toMatchObject({ status: 3 })
    const summary = ended.json<RunSummary>()
    expect(summary.tasks.parked).toBeGreaterThan(0)
    expect(JSON.stringify(summary.reasons)).toContain('spending is stopped')

    const paid = (await desk.transfers()).length
    // A payment whose answer was late on a busy machine is in doubt: it is not sent again while spending is stopped.
    const doubts = Math.round(100 * Number(summary.spend.inDoubt))
    expect(paid).toBeGreaterThanOrEqual(summary.lookups.paid)
    expect(paid).toBeLessThanOrEqual(summary.lookups.paid + doubts)
    expect(paid).toBeLessThan(count)
    // A restart does not lift it.
    expect(await desk.run(csv)).toMatchObject({ status: 3 })
    expect(await desk.transfers()).toHaveLength(paid)
    const reason = 'a wrong list'
    expect((await desk.run(['spend', '--json'])).json()).toMatchObject({ stopped: true, stop: { reason } })

    expect(await desk.run(['spend', '--resume'])).toMatchObject({ status: 0 })
    expect(await desk.run(csv)).toMatchObject({ status: 0 })
    expect(await desk.transfers()).toHaveLength(count)
  }, 180_000)
})

describe('spend and reconcile', () => {
  test('account for every cent, by each group, and agree with the chain', async () => {
    await writeFile(40)
    const summary = (await desk.run(csv)).json<RunSummary>()
    expect(summary.spend.settled).toBe('0.400000')

    for (const by of ['day', 'run', 'connector', 'endpoint', 'field']) {
      const { rows } = (await desk.run(['spend', '--by', by, '--json'])).json<{
        rows: { settled: string }[]
      }>()
      const total = rows.reduce((sum, { settled }) => sum + Math.round(Number(settled) * 1e6), 0)
      expect([by, total]).toEqual([by, 400_000])
    }
    const table = await desk.run(['spend', '--by', 'run', '--csv'])
    expect(table.stdout.split('\n')[0]).toBe('run,currency,charges,settled,inDoubt,lost')

    const reconciled = await desk.run(['reconcile', '--json'])
    expect(reconciled).toMatchObject({ status: 0 })
    expect(reconciled.json<Reconciliation>()).toMatchObject({
      wallet: desk.wallet,
      chain: { transfers: 40, amount: '0.400000' },
      ledger: { charges: 40, settled: '0.400000', lost: '0.000000', inDoubt: '0.000000' },
      difference: '0.000000',
      differences: [],
    })
  })

  test('show a challenge that the policy refused, which cost nothing', async () => {
    await writeFile(5)
    const refused = await desk.run(csv, { PAYDIRT_MAX_PRICE_USD: '0.005' })
    expect(refused).toMatchObject({ status: 3 })
    const spend = (await desk.run(['spend', '--json'])).json<{
      refused: { rule: string }[]
      rows: unknown[]
    }>()
    expect(spend).toMatchObject({ refused: [{ rule: 'price' }], rows: [] })
    const other = await desk.run(csv, { PAYDIRT_MAX_PRICE_USD: '0.002' })
    expect(other).toMatchObject({ status: 3 })
    const lines = (await desk.run(['spend'])).stdout
    expect([lines, lines]).toEqual([
      expect.stringMatching(/\d × price: .* above its cap of 0\.005000/),
      expect.stringMatching(/\d × price: .* above its cap of 0\.002000/),
    ])
    expect(await desk.transfers()).toEqual([])
    expect((await desk.run(csv)).json<RunSummary>().lookups.paid).toBe(5)
  })
})

describe('wallet', () => {
  test('makes a key that only its owner can read, never overwrites it, and uses it without further settings', async () => {
    const env = { PAYDIRT_WALLET_KEY: undefined }
    expect(await desk.run(['wallet', 'address'], env)).toMatchObject({ status: 2, stdout: '' })
    const made = await desk.run(['wallet', 'new'], env)
    const address = made.stdout.trim()
    expect(address).toMatch(/^0x[0-9a-fA-F]{40}$/)
    const file = `${desk.stores.dataDir}/data/wallet.key`
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    expect(made.stdout + made.stderr).not.toMatch(/0x[0-9a-fA-F]{64}/)
    expect(await desk.run(['wallet', 'new'], env)).toMatchObject({ status: 2, stdout: '' })

    expect((await desk.run(['wallet', 'address'], env)).stdout.trim()).toBe(address)
    await sandbox.fund(address as `0x${string}`, 1_230_000n)
    expect((await desk.run(['wallet', 'balance', '--json'], env)).json()).toEqual({
      address,
      currency: 'USDC',
      balance: '1.230000',
      lookups: 123,
    })
  })
})
