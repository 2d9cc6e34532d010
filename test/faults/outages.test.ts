import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { freshStores } from '../support/stores.ts'
import { withCase } from './fault-case.ts'
import { expectEnd, expectNothingLost, expectSound } from './invariants.ts'
import { reportFault } from './report.ts'
import { missingServers, startPostgres, startRedis } from './servers.ts'

const missing = missingServers()
const lookups = 60
const slow = { paymentIdentifier: true, latency: { minMs: 150, maxMs: 300 } }
const file = { pacing: { startPerSecond: 200, concurrency: 4 } }

describe.skipIf(missing)('an outage', () => {
  test.concurrent('Redis is killed, gone for 20 s and comes back empty', async () => {
    const redis = await startRedis()
    try {
      const stores = await freshStores({ ...process.env, REDIS_URL: redis.url })
      await withCase({ lookups, faults: slow, file, stores }, async (fault) => {
        const worker = fault.start()
        await fault.until(() => fault.sandbox.stats().settled >= 15)
        await redis.kill()
        await delay(20_000)
        const before = fault.sandbox.stats().settled
        expect(before).toBeLessThan(lookups)
        await redis.start()
        expectEnd(await worker.ended, 'finished')
        const accounts = await fault.accounts()
        reportFault('Redis killed, gone for 20 s, back empty', 0, accounts)
        expectSound(accounts, { rows: fault.rows })
        expectNothingLost(accounts)
        expect(accounts.transfers).toHaveLength(lookups)
      })
    } finally {
      await redis.stop()
    }
  })

  test.concurrent('Redis is flushed three times in a run', async () => {
    const redis = await startRedis()
    try {
      const stores = await freshStores({ ...process.env, REDIS_URL: redis.url })
      await withCase({ lookups, faults: slow, file, stores }, async (fault) => {
        const worker = fault.start()
        for (const settled of [10, 25, 40]) {
          await fault.until(() => fault.sandbox.stats().settled >= settled)
          await redis.command('FLUSHALL')
        }
        expectEnd(await worker.ended, 'finished')
        const accounts = await fault.accounts()
        reportFault('Redis flushed three times', 0, accounts)
        expectSound(accounts, { rows: fault.rows })
        expectNothingLost(accounts)
        expect(accounts.transfers).toHaveLength(lookups)
      })
    } finally {
      await redis.stop()
    }
  })

  test.concurrent.each([true, false])(
    'Postgres is restarted twice in a run (payment-identifier %s)',
    async (paymentIdentifier) => {
      const postgres = await startPostgres()
      try {
        const stores = await freshStores({ ...process.env, DATABASE_URL: postgres.url })
        await withCase({ lookups, faults: { ...slow, paymentIdentifier }, file, stores }, async (fault) => {
          let worker = fault.start()
          // The process may continue, or end with a reason; then it is started again.
          const paid = () => fault.sandbox.stats().settled
          for (const settled of [10, 30]) {
            while (paid() < settled) {
              const waiting = fault.until(() => paid() >= settled).catch(() => undefined)
              if (await Promise.race([worker.ended, waiting])) worker = fault.start()
            }
            await postgres.kill()
            await postgres.start()
          }
          const ended = await worker.ended
          if (ended.end !== 'finished')
            expectEnd(await fault.finish([], { clockAheadMs: 60_000 }), 'finished')
          await fault.resolveOpenCharges()
          const accounts = await fault.accounts()
          reportFault(
            `Postgres restarted twice${paymentIdentifier ? ', payment-identifier' : ''}`,
            0,
            accounts,
          )
          expectSound(accounts, { rows: fault.rows })
          expect(accounts.transfers).toHaveLength(lookups)
          // Answers that were being processed when it went away have waited for it.
          expectNothingLost(accounts)
        })
      } finally {
        await postgres.stop()
      }
    },
  )
})
