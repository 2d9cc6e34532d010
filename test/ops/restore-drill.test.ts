import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import type { Reconciliation } from '../../src/app/money/reconcile.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { testSeed } from '../support/seed.ts'
import { freshStores, type FreshStores } from '../support/stores.ts'

const missing = missingServers()
if (missing !== undefined) process.stderr.write(`restore-drill: left out, ${missing}\n`)

/** Bought before the backup; after it with ids that the service keeps; and after it without. */
const before = 100
const kept = 1_600
const unkept = 400
const kills = 10

const config = {
  payment: { authorizationSeconds: 30 },
  pacing: { startPerSecond: 200 },
  budgets: { runUsd: '40', dayUsd: '100' },
}

// Needs redis-server and postgres.
describe.skipIf(missing !== undefined)('2,000 lookups bought after the backup', () => {
  let servers: Server[]
  let sandbox: Sandbox
  let desk: Desk
  let second: FreshStores
  let env: Record<string, string | undefined>

  beforeAll(async () => {
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()])
    servers = [postgres, redis]
    process.env['DATABASE_URL'] = postgres.url
    process.env['REDIS_URL'] = redis.url
    sandbox = await startSandbox()
    desk = await openDesk(sandbox, {
      fundsAtomic: 40_000_000n,
      config,
    })
    second = await freshStores()
    env = {
      PAYDIRT_DATA_DIR: join(second.dataDir, 'data'),
      DATABASE_URL: second.databaseUrl,
      PAYDIRT_REDIS_PREFIX: second.redisPrefix,
    }
  })
  afterAll(async () => {
    await desk?.close()
    await second?.cleanup()
    await sandbox?.stop()
    for (const server of servers ?? []) await server.stop()
    delete process.env['DATABASE_URL']
    delete process.env['REDIS_URL']
  })

  const enrich = (file: string, given?: typeof env) =>
    desk.run(['csv', file, '--object', 'company', '--out', `out-${file}`, '--force', '--json'], given)

  test('are found on the chain: none is paid twice, and each that the service does not keep is listed', async () => {
    const urls = Array.from({ length: 4_000 }, (_, index) => `https://www.profnet.com/company/drill-${index}`)
      .filter((url) => companyAnswer(url).data !== null)
      .slice(0, before + kept + unkept)
    const csv = (rows: readonly string[]) => ['profnet_url', ...rows, ''].join('\n')
    await desk.write('before.csv', csv(urls.slice(0, before)))
    await desk.write('kept.csv', csv(urls.slice(before, before + kept)))
    await desk.write('unkept.csv', csv(urls.slice(before + kept)))
    await desk.write('all.csv', csv(urls))

    sandbox.faults.set({ paymentIdentifier: true })
    expect(await enrich('before.csv')).toMatchObject({ status: 0 })
    expect(await desk.run(['backup', 'ledger.backup'])).toMatchObject({ status: 0 })
    expect(await enrich('kept.csv')).toMatchObject({ status: 0 })
    sandbox.faults.set({ paymentIdentifier: false })
    expect(await enrich('unkept.csv')).toMatchObject({ status: 0 })
    const paid = await desk.transfers()
    expect(paid).toHaveLength(before + kept + unkept)

    // Killed while it restores: the next call begins again.
    sandbox.faults.set({ paymentIdentifier: true })
    const dice = createDice(`restore drill ${testSeed()}`)
    for (let kill = 0; kill < kills; kill += 1) {
      const restoring = desk.start(['restore', 'ledger.backup'], env)
      await new Promise((resolve) => setTimeout(resolve, 300 + 1_200 * dice.roll()))
      restoring.kill('SIGKILL')
      await restoring.ended
    }
    const restored = await desk.run(['restore', 'ledger.backup'], env)
    // The last that was killed may have come to its end.
    expect([0, 2]).toContain(restored.status)

    // Spends nothing while it waits, and goes on by itself, over kills.
    let killed = 0
    for (;;) {
      const run = desk.start(
        ['csv', 'all.csv', '--object', 'company', '--out', 'out-all.csv', '--force', '--json'],
        env,
      )
      const doomed = killed < kills
      if (doomed) {
        await Promise.race([
          run.ended,
          new Promise((resolve) => setTimeout(resolve, 4_000 + 4_000 * dice.roll())),
        ])
        run.kill('SIGKILL')
        killed += 1
      }
      const { status, signal } = await run.ended
      if (signal === null && status !== 3) break
      if (status === 3) await new Promise((resolve) => setTimeout(resolve, 5_000))
    }
    expect(await desk.transfers()).toHaveLength(paid.length)
    expect(sandbox.stats().keysPaidTwice).toBe(0)

    const reconciled = await desk.run(['reconcile', '--json'], env)
    expect(reconciled.status).toBe(0)
    const result = reconciled.json<Reconciliation & Record<string, unknown>>()
    expect(result).toMatchObject({
      difference: '0.000000',
      differences: [],
      ledger: { settled: usd(before + kept), lost: usd(unkept), inDoubt: usd(0) },
      chain: { transfers: before + kept + unkept },
    })
    const payments = result.restored?.payments ?? []
    const listed = payments.filter(({ state }) => state === 'lost').map(({ transaction }) => transaction)
    expect(new Set(listed)).toEqual(new Set(paid.slice(before + kept).map(({ transaction }) => transaction)))
    console.log(
      `restore drill: ${kept + unkept} lookups bought after the backup, ${kills} kills of the restore, ${killed} of the run after it; ` +
        `${payments.length - listed.length} answers had again for nothing, ${listed.length} listed, 0 paid twice, difference ${result.difference}`,
    )
  })

  test('notices a database that was set back with its own tools by the first payment that was made before', async () => {
    const urls = Array.from(
      { length: 200 },
      (_, index) => `https://www.profnet.com/company/set-back-${index}`,
    )
      .filter((url) => companyAnswer(url).data !== null)
      .slice(0, 30)
    const own = await openDesk(sandbox, { config })
    onTestFinished(own.close)
    const enrichOwn = () =>
      own.run(['csv', 'set-back.csv', '--object', 'company', '--out', 'out.csv', '--force', '--json'])
    await own.write('set-back.csv', ['profnet_url', ...urls, ''].join('\n'))
    sandbox.faults.set({ paymentIdentifier: true })
    expect(await enrichOwn()).toMatchObject({ status: 0 })
    const paid = await own.transfers()
    expect(paid).toHaveLength(urls.length)
    // The tables as they were before the run: no note tells that they were set back.
    const client = new pg.Client({ connectionString: own.stores.databaseUrl })
    await client.connect()
    await client.query(
      `truncate runs, tasks, lookups, charges, field_writes, budgets, chain_checkpoints, chain_transfers cascade`,
    )
    await client.end()
    // It waits until the last authorization of before has ended, and goes on by itself.
    expect(await enrichOwn()).toMatchObject({ status: 0 })
    expect(await own.transfers()).toHaveLength(paid.length)
    expect((await own.run(['reconcile', '--json'])).json()).toMatchObject({
      ledger: { lost: usd(0), inDoubt: usd(0) },
    })
  })
})

function usd(lookups: number): string {
  return (lookups / 100).toFixed(6)
}
