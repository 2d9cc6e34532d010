import { afterAll, beforeAll, expect, test } from 'vitest'
import { fetchList } from '../../src/app/lists/pages/fetch-list.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { isFullSize } from '../support/full-size.ts'
import type { FetchOrder } from '../support/fetch-process.ts'
import { openHouse } from '../support/house.ts'
import { runOrder } from '../support/run-order.ts'

let sandbox: Sandbox
// It repeats the answers of a payment that it knows.
beforeAll(async () => void (sandbox = await startSandbox({ faults: { paymentIdentifier: true } })))
afterAll(() => sandbox.stop())

interface Printed {
  end: string
  bought: number
  rows: number
  snapshot: string
}

const pages = 2
/** Between two steps of a page: set aside, asked for, paid for, read and stored. */
const short = [
  { point: 'renewed', nth: 1 },
  { point: 'read', nth: 2 },
] as const
const points: readonly NonNullable<FetchOrder['kill']>[] = isFullSize
  ? [
      ...short,
      { point: 'taken', nth: 1 },
      { point: 'taken', nth: 2 },
      { point: 'renewed', nth: 2 },
      { point: 'request', nth: 2 },
      { point: 'answer', nth: 1 },
      { point: 'answer', nth: 2 },
      { point: 'read', nth: 1 },
      { point: 'read', nth: 3 },
    ]
  : short

// Its processes take more time than the short size has.
test.skipIf(!isFullSize)(
  'killed anywhere, a fetch that buys its pages again goes on, and pays for each once more',
  { timeout: 300_000 },
  async () => {
    const file = {
      payment: { maxPricesUsd: { 'company.search': '0.05' } },
      lists: {
        german: {
          search: 'company.search',
          filters: { countries: ['DE'] },
          into: { connector: 'hubspot', entity: 'companies' },
          limit: pages * 25,
        },
      },
    } as const
    const house = await openHouse(sandbox, { config: file as never })
    try {
      const calls = await listCalls(house.context, 'german', { asks: false })
      const first = await fetchList(house.context, calls, {
        budgetAtomic: 10_000_000n,
        reachableOnly: false,
        signal: new AbortController().signal,
      })
      expect(first).toMatchObject({ end: 'complete', bought: pages, list: { rows: pages * 25 } })
      // The embedded ledger belongs to one process at a time.
      await house.leave()
      const run = (again: boolean, kill?: FetchOrder['kill']) =>
        runOrder<Printed>('fetch-process.ts', {
          env: house.variables,
          file: house.settings,
          list: 'german',
          again,
          ...(kill ? { kill } : {}),
        } as FetchOrder)
      const snapshots = new Set([first.list.fetch?.id])
      for (const [at, kill] of points.entries()) {
        expect({ kill, signal: (await run(true, kill)).signal }).toEqual({ kill, signal: 'SIGKILL' })
        const { printed } = await run(true)
        snapshots.add(printed?.snapshot)
        expect({ kill, ...printed }).toMatchObject({ kill, end: 'complete', rows: pages * 25 })
        expect({ kill, paid: (await house.transfers()).length }).toEqual({ kill, paid: pages * (at + 2) })
        expect(snapshots.size).toBe(at + 2)
      }
      // Without the option nothing is paid again.
      if (isFullSize) expect((await run(false)).printed).toMatchObject({ end: 'complete', bought: 0 })
      process.stderr.write(
        `${points.length} kills, ${(await house.transfers()).length} payments for ${points.length + 1} fetches\n`,
      )
    } finally {
      await house.close()
    }
  },
)
