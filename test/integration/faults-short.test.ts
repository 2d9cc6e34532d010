import { expect, test } from 'vitest'
import { withCase } from '../faults/fault-case.ts'
import { expectNothingLost, expectSound } from '../faults/invariants.ts'
import { points } from '../faults/kill-plan.ts'
import { isFullSize } from '../support/full-size.ts'

// The short form of `npm run test:faults`, which does the same and more on real servers, fault by fault.

/** The short size has every third window. */
const windows = isFullSize ? points : points.filter((_, at) => at % 3 === 1)

// On a real Redis a killed process keeps its jobs for 15 to 35 seconds, so each of the seven kills takes that long.
const limitMs = 600_000

test(
  'a run killed once in each crash window pays for each lookup once and loses nothing',
  async () => {
    // Three at a time: each of the seven kills costs five lookups at most, and meets a run that has more to do.
    const file = { pacing: { startPerSecond: 200, concurrency: 3 } }
    await withCase({ lookups: 40, file, faults: { paymentIdentifier: true } }, async (fault) => {
      const last = await fault.finish(windows.map((point) => ({ point, nth: 2 })))

      expect(fault.kills).toBe(windows.length)
      expect(last.end).toBe('finished')
      const accounts = await fault.accounts()
      expectSound(accounts, { rows: fault.rows })
      expectNothingLost(accounts)
      expect(accounts.transfers).toHaveLength(40)
      // Or no kill has hit a payment on its way, and this test has shown nothing.
      expect(fault.sandbox.stats().repeated).toBeGreaterThan(0)
    })
  },
  limitMs,
)
