import { afterAll, beforeAll, expect, test } from 'vitest'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openMoneyFuzz, type Target } from '../support/money-fuzz.ts'
import { testSeed } from '../support/seed.ts'

// `node scripts/run.mjs test:long test/long/money-fuzz.test.ts`; PAYDIRT_TEST_FUZZ=1000 makes it shorter.

const cases = Number(process.env['PAYDIRT_TEST_FUZZ'] || 10_000)
const round = 100
const seed = testSeed()
let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

test.each<Target>(['challenges', 'answers'])(
  `ledger and chain agree after each hundred of ${cases} mutated %s (seed ${seed})`,
  async (target) => {
    const fuzz = await openMoneyFuzz(sandbox, target === 'answers' ? seed : seed + 1)
    const startMs = performance.now()
    try {
      for (let from = 0; from < cases; from += round) {
        // A server that repeats answers by payment id, and one that does not, in turns.
        sandbox.faults.set({ paymentIdentifier: (from / round) % 2 === 1 })
        const { transfers, difference } = await fuzz.round(target, from, Math.min(round, cases - from))
        expect(difference).toBe('0.000000')
        if ((from / round) % 10 === 9)
          console.info(
            `${target}: ${from + round} lookups, ${transfers} transfers, difference ${difference}, ${Math.round((performance.now() - startMs) / 1000)} s`,
          )
      }
      const { mutated, refused, answered, errors } = fuzz.counts
      console.info(
        `${target}: ${mutated} mutated, ${refused} refused, ${answered} answered; charges ${JSON.stringify(await fuzz.states())}; errors ${JSON.stringify(Object.fromEntries(errors))}`,
      )
      expect(mutated).toBeGreaterThanOrEqual(cases)
    } finally {
      await fuzz.close()
    }
  },
  7_200_000,
)
