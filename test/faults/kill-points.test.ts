import { describe, expect, test } from 'vitest'
import { withCase } from './fault-case.ts'
import { expectNothingLost, expectSound } from './invariants.ts'
import { points, type Point } from './kill-plan.ts'
import { reportFault } from './report.ts'
import { paymentMethods } from './payment-methods.ts'

const lookups = 12
/** After the time in which a paid answer may still come: the process is restarted a minute later. */
const aMinute = 60_000

/**
 * At these points the money has moved and the answer is not stored. A server that does not repeat answers then keeps
 * the money without an answer.
 */
const losesItsAnswer = new Set<Point>([
  'after-send',
  'after-settlement-before-answer',
  'after-answer-before-store',
])

describe.each(paymentMethods)('paying by $name', (method) => {
  test.concurrent.each(points)('a SIGKILL %s leaves every cent accounted for', async (point) => {
    const options = {
      lookups,
      faults: method.faults,
      // One lookup at a time: the kill hits exactly one lookup, so its cost is known in advance.
      file: { ...method.file, pacing: { startPerSecond: 200, concurrency: 1 } },
    }
    await withCase(options, async (fault) => {
      expect(await fault.start({ kill: { point, nth: 4 } }).ended).toMatchObject({ signal: 'SIGKILL' })
      const last = await fault.finish([], { clockAheadMs: aMinute })

      const accounts = await fault.accounts()
      reportFault(`killed ${point}, ${method.name}`, 1, accounts)
      expect(last.end).toBe('finished')
      expectSound(accounts, { rows: fault.rows })
      const lost = losesItsAnswer.has(point) && !method.repeatsAnswers ? 1 : 0
      expect(accounts.charges.filter(({ state }) => state === 'lost')).toHaveLength(lost)
      expect(accounts.transfers).toHaveLength(lookups + lost)
      if (method.repeatsAnswers) expectNothingLost(accounts)
      expect(accounts.openAtomic).toBe(0n)
    })
  })
})
