import { describe, expect, test } from 'vitest'
import { withCase, type FaultCase } from './fault-case.ts'
import { expectEnd, expectBoughtAgainAtMostOnce, expectNothingLost, expectSound } from './invariants.ts'
import type { Point } from './kill-plan.ts'
import { reportFault } from './report.ts'
import { paymentMethods } from './payment-methods.ts'
import type { WorkerEnd } from './worker.ts'

const lookups = 8
const hasServers = Boolean(process.env['DATABASE_URL'] && process.env['REDIS_URL'])
const oneAtATime = { pacing: { startPerSecond: 200, concurrency: 1 } }

// Two processes need a database and a queue that both can reach.
describe.skipIf(!hasServers)('a process stopped past the lock of its job, while another takes over', () => {
  const stops: Point[] = ['after-journal', 'before-send', 'after-send', 'after-answer-before-store']

  describe.each(paymentMethods.filter(({ name }) => name.startsWith('x402 v2')))(
    'paying by $name',
    (method) => {
      test.concurrent.each(stops)('%s, continues and pays for nothing twice', async (point) => {
        await withCase(
          { lookups, faults: method.faults, file: { ...method.file, ...oneAtATime } },
          async (fault) => {
            const sleeper = fault.start({ kill: { point, nth: 3, signal: 'SIGSTOP' } })
            await sleeper.stopped()
            const other = await fault.start().ended
            expectEnd(other)
            sleeper.kill('SIGCONT')
            const woken = await sleeper.ended
            expectEnd(woken)
            // Without payment ids, the other process may have waited in vain for the answer that this one was processing.
            if (woken.end !== 'finished') expect(await fault.finish()).toMatchObject({ end: 'finished' })

            const accounts = await fault.accounts()
            reportFault(`SIGSTOP ${point} past the lock, SIGCONT, ${method.name}`, 0, accounts)
            expectSound(accounts, { rows: fault.rows, mayAnswerLate: point === 'after-answer-before-store' })
            expectBoughtAgainAtMostOnce(accounts)
            if (method.repeatsAnswers) expectNothingLost(accounts)
            expect(accounts.openAtomic).toBe(0n)
          },
        )
      })
    },
  )

  test.concurrent('does not send what a process with a clock that runs ahead counted as dead', async () => {
    await withCase({ lookups, file: oneAtATime, authorizationSeconds: 120 }, async (fault) => {
      const sleeper = fault.start({ kill: { point: 'after-journal', nth: 3, signal: 'SIGSTOP' } })
      await sleeper.stopped()
      // By this clock the journaled authorization has expired, and it was never sent: it is declined, and the lookup
      // starts over.
      const other = await fault.start({ clockAheadMs: 115_000 }).ended
      expectEnd(other, 'finished')
      sleeper.kill('SIGCONT')
      const woken = await sleeper.ended
      expectEnd(woken)

      const accounts = await fault.accounts()
      reportFault('SIGSTOP after-journal, declined by a clock that runs ahead, SIGCONT', 0, accounts)
      expectSound(accounts, { rows: fault.rows })
      expect(accounts.charges.map(({ state }) => state).sort()).toEqual([
        'declined',
        ...Array.from({ length: lookups }, () => 'settled'),
      ])
      expect(accounts.transfers).toHaveLength(lookups)
    })
  })
})

describe.skipIf(!hasServers)('two processes on one run', () => {
  const slow = { latency: { minMs: 200, maxMs: 400 } }
  const fewAtATime = { pacing: { startPerSecond: 200, concurrency: 4 } }

  /** The second process joins when the first has read the file. */
  async function startBoth(fault: FaultCase): Promise<WorkerEnd[]> {
    const first = fault.start()
    await fault.until(() => fault.sandbox.stats().settled >= 4)
    return Promise.all([first.ended, fault.start().ended])
  }

  test.concurrent('race for the last cent of a budget and never spend more', async () => {
    const env = { PAYDIRT_BUDGET_RUN_USD: '0.40' }
    await withCase({ lookups: 80, env, faults: slow, file: fewAtATime }, async (fault) => {
      for (const ended of await startBoth(fault)) expectEnd(ended, 'parked')
      const capped = await fault.accounts()
      reportFault('2 processes racing for the last cent of 0.40', 0, capped)
      expectSound(capped, { rows: fault.rows })
      expect(capped.transfers).toHaveLength(40)
      const parked = capped.tasks.filter(({ status }) => status === 'parked')
      expect(parked.every(({ reason }) => reason?.includes('budget'))).toBe(true)
      expect(capped.lookups.filter(({ state }) => state === 'parked')).toHaveLength(40)

      expectEnd(await fault.finish([], { env: { PAYDIRT_BUDGET_RUN_USD: '1' } }), 'finished')
      const accounts = await fault.accounts()
      expectSound(accounts, { rows: fault.rows })
      expect(accounts.transfers).toHaveLength(80)
    })
  })

  test.concurrent('share the work and buy each lookup once', async () => {
    await withCase({ lookups: 80, faults: slow, file: fewAtATime }, async (fault) => {
      for (const ended of await startBoth(fault)) expectEnd(ended, 'finished')
      const accounts = await fault.accounts()
      reportFault('2 processes on one run', 0, accounts)
      expectSound(accounts, { rows: fault.rows })
      expectNothingLost(accounts)
      expect(accounts.transfers).toHaveLength(80)
    })
  })
})
