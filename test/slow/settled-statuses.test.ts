import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Reconciliation } from '../../src/app/money/reconcile.ts'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import type { FaultsInput } from '../../src/sandbox/faults/faults.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { makeFile } from '../support/spellings.ts'

let sandbox: Sandbox
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox, { config: { payment: { protocols: ['x402', 'mpp'] } } as never })
})
afterEach(() => desk.close())

test.each<[string, FaultsInput]>([
  ['x402', {}],
  ['MPP', { challengeProtocols: 'mpp' }],
])(
  'answers that settle by %s with 201, 202 and 206 are all kept',
  async (_, faults) => {
    // One at a time: each status hits the next answer.
    for (const [index, status] of [201, 202, 206].entries()) {
      sandbox.faults.set({ ...faults, settledStatus: { next: 1, status } })
      const file = await desk.write(`${status}.csv`, makeFile([['one', 'two', 'three'][index]!]).csv)
      const run = await desk.run(['csv', file, '--object', 'company', '--out', `${status}-out.csv`, '--json'])
      expect(run).toMatchObject({ status: 0 })
      expect(run.json<RunSummary>().tasks).toMatchObject({ written: 1 })
      expect(run.json<RunSummary>().spend).toMatchObject({ inDoubt: '0.000000', lost: '0.000000' })
    }
    expect((await desk.run(['reconcile', '--json'])).json<Reconciliation>()).toMatchObject({
      ledger: { charges: 3, settled: '0.030000' },
      differences: [],
    })
  },
  120_000,
)
