import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { AccountCount } from '../../src/app/money/account-count.ts'
import type { RunSummary } from '../../src/app/runs/summary.ts'
import { API_KEY, API_KEY_HEADER } from '../../src/sandbox/accounts.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { makeFile } from '../support/spellings.ts'

let sandbox: Sandbox
let desk: Desk

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
beforeEach(async () => {
  sandbox.faults.reset()
  desk = await openDesk(sandbox, { fundsAtomic: 0n })
  await desk.write('in.csv', makeFile(['one', 'two', 'three']).csv)
})
afterEach(() => desk.close())

const run = (...args: string[]) =>
  desk.run(args, {
    PAYDIRT_API_KEY: API_KEY,
    PAYDIRT_API_KEY_HEADER: API_KEY_HEADER,
    PAYDIRT_WALLET_KEY: undefined,
  })

test('a gateway that gives up after the credit was taken is asked once, and the account’s count shows the credit', async () => {
  sandbox.faults.set({ errorAfterSettlement: { next: 1, status: 504 } })
  const first = await run('csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--json')
  expect(first).toMatchObject({ status: 3 })
  expect(first.json<RunSummary>().tasks).toMatchObject({ written: 2, parked: 1 })

  const early = (await run('reconcile', '--json')).json<{
    account: AccountCount
    toDecide: { charge: string }[]
  }>()
  // The request may still be answered; nothing is concluded from the count yet.
  expect(early.account).toMatchObject({
    verdict: 'under_way',
    usedSince: '3.000000',
    bookedSince: '2.000000',
  })
  const [{ charge } = { charge: '' }, ...others] = early.toDecide
  expect(others).toEqual([])
  await run('reconcile', '--close', charge, '--as', 'lost')
  expect((await run('reconcile', '--json')).json<{ account: AccountCount }>().account).toMatchObject({
    verdict: 'agree',
    usedSince: '3.000000',
    bookedSince: '3.000000',
    unexplained: '0.000000',
  })
})
