import pg from 'pg'
import { expect, test } from 'vitest'
import { createDice } from '../../src/sandbox/random.ts'
import { paydirt } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'
import { withCase, type FaultCase } from './fault-case.ts'
import { expectEnd, expectNothingLost, expectSound } from './invariants.ts'
import { points, type KillPlan } from './kill-plan.ts'
import { reportFault } from './report.ts'

const lookups = 2_000
const kills = 200
const hasServers = Boolean(process.env['DATABASE_URL'] && process.env['REDIS_URL'])

/** Two processes at a time, each killed at a random point and started again, until the last one may finish. */
test.skipIf(!hasServers)(
  `${kills} random kills over ${lookups} lookups leave every cent accounted for`,
  { timeout: 1_500_000 },
  async () => {
    const seed = testSeed()
    const options = {
      lookups,
      faults: { paymentIdentifier: true, latency: { minMs: 5, maxMs: 40 }, seed: seed % 1_000_000 },
      // With so many slots, background lookups go to the queue in blocks of four.
      file: { pacing: { startPerSecond: 300, concurrency: 16 } },
    }
    await withCase(options, async (fault) => {
      await readTheFile(fault)
      await Promise.all(['one', 'two'].map((lane) => killAgainAndAgain(fault, `${seed} ${lane}`)))
      const last = await fault.finish()
      const accounts = await fault.accounts()
      reportFault(`random kills, seed ${seed}`, fault.kills, accounts)
      expectEnd(last, 'finished')
      expect(fault.kills).toBeGreaterThanOrEqual(kills)
      expectSound(accounts, { rows: fault.rows })
      expectNothingLost(accounts)
      expect(accounts.transfers).toHaveLength(lookups)

      const { stores, sandbox, walletKey } = fault
      const reconciled = await paydirt(['reconcile', '--json'], { stores, sandbox, walletKey })
      process.stderr.write(`paydirt reconcile --json: ${reconciled.stdout}`)
      expect(reconciled).toMatchObject({ status: 0 })
      expect(reconciled.json()).toMatchObject({
        difference: '0.000000',
        differences: [],
        chain: { transfers: lookups, amount: '20.000000' },
        ledger: { settled: '20.000000', lost: '0.000000', inDoubt: '0.000000' },
      })
    })
  },
)

/**
 * A process that joins a run continues after the stored rows. Two processes that read the same file at the same time
 * would collide.
 */
async function readTheFile(fault: FaultCase): Promise<void> {
  const first = fault.start()
  const client = new pg.Client({ connectionString: fault.stores.databaseUrl })
  await fault.until(() => fault.sandbox.stats().settled > 0)
  await client.connect()
  try {
    for (;;) {
      const { rows } = await client.query('select count(*)::int as tasks from tasks')
      if ((rows[0] as { tasks: number }).tasks === fault.rows) break
    }
  } finally {
    await client.end()
  }
  first.kill('SIGKILL')
  expect((await first.ended).signal).toBe('SIGKILL')
  fault.kills += 1
}

async function killAgainAndAgain(fault: FaultCase, seed: string): Promise<void> {
  const dice = createDice(seed)
  while (fault.kills < kills) {
    const kill: KillPlan = { point: dice.pick(points), nth: dice.integer(1, 4) }
    const ended = await fault.start({ kill }).ended
    if (ended.signal !== 'SIGKILL') throw new Error(`not killed at ${JSON.stringify(kill)}:\n${ended.output}`)
    fault.kills += 1
  }
}
