import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { resolveConfig, type Config } from '../../src/app/config/config.ts'
import { openConnector } from '../../src/app/context/connectors.ts'
import { createContext, type Context } from '../../src/app/context/context.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { makeReady, openRun } from '../../src/app/runs/sync.ts'
import { scan } from '../../src/producers/scan.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createAdvance } from '../../src/planning/advance.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { openServiceHouse } from '../support/service-house.ts'

const missing = missingServers()
if (missing !== undefined) process.stderr.write(`workers-killed: left out, ${missing}\n`)

const latencyMs = 1_500
const concurrency = 4
/** So few that each lookup has a job of its own, and enough for blocks of four. */
const sizes = [
  { companies: 24, slots: concurrency },
  { companies: 96, slots: 16 },
]
// Lock 15 s, looked at every 5 s (docs/decisions/0004-queue.md), and then the lookup itself.
const movedWithinMs = 20_000

// `paydirt start --role worker`, several of them, on a Redis and a Postgres of their own.
describe.skipIf(missing !== undefined)('worker processes on one run', () => {
  let servers: { redis: Server; postgres: Server }
  let sandbox: Sandbox

  beforeAll(async () => {
    servers = { redis: await startRedis(), postgres: await startPostgres() }
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: latencyMs, maxMs: latencyMs } },
    })
  })
  afterAll(async () => {
    await sandbox.stop()
    await servers.redis.stop()
    await servers.postgres.stop()
  })

  test.each(sizes)(
    "a killed worker's $companies lookups are another's within 20 s, and nothing is paid for twice",
    async ({ companies, slots }) => {
      const stage = await setStage(companies, slots)
      const doomed = stage.start()
      const inHand = await stage.untilSent(slots)
      stage.start()
      doomed.kill('SIGKILL')
      const killedMs = performance.now()
      await doomed.ended
      await stage.untilAnswered(inHand)
      expect(performance.now() - killedMs).toBeLessThan(movedWithinMs + latencyMs + 2_000)
      await stage.expectAllWrittenOnce()
    },
  )

  test.each(sizes)(
    'a worker that is told to stop ends what it has in hand, and leaves the rest of $companies to the others',
    async ({ companies, slots }) => {
      const stage = await setStage(companies, slots)
      const leaving = stage.start()
      const inHand = await stage.untilSent(slots)
      leaving.kill('SIGTERM')
      const toldMs = performance.now()
      const { status, stderr } = await leaving.ended
      expect(stderr).toContain('stopping')
      expect(status).toBe(0)
      expect(performance.now() - toldMs).toBeLessThan(15_000)
      expect(await stage.openCharges()).toEqual([])
      await stage.untilAnswered(inHand)
      stage.start()
      await stage.expectAllWrittenOnce()
    },
  )

  test('two are faster than one where one alone cannot reach the limit of the service', async () => {
    const stage = await setStage(80)
    stage.start()
    await stage.untilSent(1)
    const alone = await stage.servedIn(6_000)
    stage.start()
    await stage.untilStarted()
    const both = await stage.servedIn(6_000)
    expect(both).toBeGreaterThan(1.4 * alone)
    await stage.expectAllWrittenOnce()
  })

  async function setStage(companies: number, slots = concurrency) {
    const house = await openServiceHouse(servers, sandbox, {
      pacing: { startPerSecond: 200, concurrency: slots },
    })
    house.addCompanies(companies)
    const config = resolveConfig(readEnvironment(house.environment), {})
    const context = await createContext(config)
    const { db } = context.database
    onTestFinished(async () => {
      await context.close()
      await house.close()
    })
    await scanAll(context, config)

    async function until(holds: () => Promise<boolean>): Promise<void> {
      // Other processes do the awaited work, and the ledger shows it.
      while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const keysOf = async (states: ('journaled' | 'sent' | 'in_doubt' | 'settled')[]) =>
      (await db.selectFrom('charges').select('lookup_key').where('state', 'in', states).execute()).map(
        (row) => row.lookup_key,
      )

    return {
      start: () => house.start('worker'),
      /** Answers the lookups that have gone out and are not answered. */
      async untilSent(count: number) {
        let keys: string[] = []
        await until(async () => (keys = await keysOf(['sent'])).length >= count)
        return keys
      },
      untilAnswered: (keys: string[]) =>
        until(async () => {
          const answered = await db
            .selectFrom('lookups')
            .select('key')
            .where('key', 'in', keys as never[])
            .where('state', '=', 'answered')
            .execute()
          return answered.length === keys.length
        }),
      /** More is under way than one process may have in hand. */
      untilStarted: () => until(async () => (await keysOf(['sent'])).length > concurrency),
      openCharges: () => keysOf(['journaled', 'sent', 'in_doubt']),
      async servedIn(ms: number) {
        const before = sandbox.stats().settled
        await new Promise((resolve) => setTimeout(resolve, ms))
        return sandbox.stats().settled - before
      },
      async expectAllWrittenOnce() {
        const open = async () =>
          (
            await db
              .selectFrom('tasks')
              .select('id')
              .where('status', 'in', ['queued', 'looking_up', 'ready', 'parked'])
              .execute()
          ).length
        await until(async () => (await open()) === 0)
        expect(await db.selectFrom('tasks').select('id').execute()).toHaveLength(companies)
        expect(await keysOf(['settled'])).toHaveLength(companies)
        expect(await sandbox.transfersFrom(house.wallet)).toHaveLength(companies)
        const written = await db
          .selectFrom('tasks')
          .select('record_id')
          .where('status', '=', 'written')
          .execute()
        expect(written.length).toBeGreaterThan(companies / 2)
        const filled = written.map(({ record_id: id }) => house.company(id))
        expect(filled.filter((properties) => Object.keys(properties).length <= 2)).toEqual([])
      },
    }
  }
})

async function scanAll(context: Context, config: Config): Promise<void> {
  const connector = await openConnector(config, 'hubspot', await context.openEngine())
  await makeReady(connector, ['companies'])
  const { run } = await openRun(context, connector, { entity: 'companies', filter: [] }, 'scanning')
  const advance = createAdvance({ ...context.planning, onReady: () => {}, onWanted: () => {} })
  await scan(run, connector, { ...context.planning, runs: context.runs, advance })
  await connector.close()
}
