import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from '../support/house.ts'
import { makeFile } from '../support/spellings.ts'

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

/** Resolves when the service has had no request for half a second. */
async function quiet(): Promise<void> {
  for (let last = -1; last !== sandbox.stats().requests; await pause(500)) last = sandbox.stats().requests
}

test('an interrupted run buys nothing more while its ledger is slow to answer', async () => {
  const count = 80
  const house = await openHouse(sandbox, {
    config: { pacing: { startPerSecond: 10, maxPerSecond: 10, concurrency: 8 } },
  })
  try {
    const { tasks } = house.context
    const ctrlC = new AbortController()
    const hasOpen = tasks.hasOpen.bind(tasks)
    tasks.hasOpen = async (runId) => {
      if (sandbox.stats().settled < 5) return hasOpen(runId)
      // The interruption comes while the progress is asked for, and the answer takes as long as anything is bought.
      ctrlC.abort()
      await quiet()
      return hasOpen(runId)
    }
    const file = makeFile(Array.from({ length: count }, (_, index) => `slow-${index}`))
    const { end, summary } = await house.enrich(file, ctrlC.signal)
    expect(end).toBe('interrupted')
    const paid = (await house.transfers()).length
    expect(summary).toMatchObject({ lookups: { paid }, spend: { inDoubt: '0.000000' } })
    expect(paid).toBeGreaterThanOrEqual(5)
    expect(paid).toBeLessThan(count / 2)
  } finally {
    await house.close()
  }
})

test('an interrupted run shows the answers that still come in', async () => {
  sandbox.faults.set({ latency: { minMs: 200, maxMs: 2_000 } })
  const house = await openHouse(sandbox, {
    config: { pacing: { startPerSecond: 10, maxPerSecond: 10, concurrency: 8 } },
  })
  try {
    const ctrlC = new AbortController()
    const [before, after] = [[0], [0]]
    const file = makeFile(Array.from({ length: 40 }, (_, index) => `shown-${index}`))
    const { end, summary } = await house.enrich(file, ctrlC.signal, ({ underWay: { bought } }) => {
      ;(ctrlC.signal.aborted ? after : before).push(bought)
      if (bought > 0) ctrlC.abort()
    })
    expect(end).toBe('interrupted')
    expect(Math.max(...after)).toBeGreaterThan(Math.max(...before))
    expect(Math.max(...after)).toBeLessThanOrEqual(summary.lookups.paid)
  } finally {
    sandbox.faults.reset()
    await house.close()
  }
})
