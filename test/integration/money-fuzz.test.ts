import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openMoneyFuzz } from '../support/money-fuzz.ts'
import { testSeed } from '../support/seed.ts'

// The short form of test/long/money-fuzz.test.ts.

const seed = testSeed()
let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox({ faults: { challengeProtocols: 'x402' } })))
afterAll(() => sandbox.stop())

test(`ledger and chain agree after 80 mutated challenges and 40 mutated answers (seed ${seed})`, async () => {
  const fuzz = await openMoneyFuzz(sandbox, seed)
  try {
    expect(await fuzz.round('challenges', 0, 80)).toMatchObject({ difference: '0.000000' })
    expect(await fuzz.round('answers', 80, 40)).toMatchObject({ difference: '0.000000' })
    // A fuzz that never pays, or never breaks anything, proves nothing.
    expect(fuzz.counts.refused).toBeGreaterThan(20)
    expect(fuzz.counts.mutated).toBeGreaterThanOrEqual(120)
    expect((await fuzz.states())['settled']).toBeGreaterThan(20)
  } finally {
    await fuzz.close()
  }
})
