import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { layLedger } from '../support/ledger-template.ts'
import type { RestoreOrder } from '../support/restore-process.ts'
import { runOrder } from '../support/run-order.ts'
import { testSeed } from '../support/seed.ts'
import { freshStores } from '../support/stores.ts'

const sandbox = await startSandbox()
afterAll(() => sandbox.stop())

const urls = Array.from({ length: 20 }, (_, index) => `https://www.profnet.com/company/killed-${index}`)
  .filter((url) => companyAnswer(url).data !== null)
  .slice(0, 3)

test('a restore that is killed at any statement leaves an empty ledger or a whole one in restore mode', async () => {
  const desk = await openDesk(sandbox)
  const all: Awaited<ReturnType<typeof freshStores>>[] = []
  /** An empty ledger, and the variables of a process that uses it. */
  async function another() {
    const stores = await freshStores()
    all.push(stores)
    const dataDir = join(stores.dataDir, 'data')
    await layLedger(dataDir)
    return {
      PAYDIRT_DATA_DIR: dataDir,
      DATABASE_URL: stores.databaseUrl,
      PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
    }
  }
  try {
    await desk.write('in.csv', ['profnet_url', ...urls, ''].join('\n'))
    const enrich = ['csv', 'in.csv', '--object', 'company', '--out', 'out.csv', '--force', '--json']
    expect((await desk.run(enrich)).status).toBe(0)
    expect((await desk.run(['backup', 'ledger.backup'])).status).toBe(0)
    const runs = (await desk.run(['runs', '--json'])).stdout
    const order = (env: RestoreOrder['env'], killAfter?: number): RestoreOrder => ({
      env: { ...desk.variables, ...env },
      file: desk.at('ledger.backup'),
      ...(killAfter === undefined ? {} : { killAfter }),
    })
    const whole = await runOrder<{ statements: number }>('restore-process.ts', order(await another()))
    const statements = whole.printed?.statements ?? 0
    expect(statements).toBeGreaterThan(50)

    const dice = createDice(`${testSeed()} restore`)
    const drawn = Array.from({ length: sized(15, 2) }, () => dice.integer(1, statements - 5))
    // The data is committed a few statements before the end.
    const points = [...drawn, ...(isFullSize ? [4, 3, 2, 1, 0] : [3, 1]).map((before) => statements - before)]
    const ends = []
    for (const killAfter of points) {
      const env = await another()
      expect((await runOrder('restore-process.ts', order(env, killAfter))).signal).toBe('SIGKILL')
      const again = await desk.run(['restore', 'ledger.backup'], env)
      const end =
        again.status === 0 ? 'empty' : /into an empty one/.test(again.stderr) ? 'whole' : again.stderr
      ends.push(end)
      expect({ killAfter, end }).toEqual({ killAfter, end: expect.stringMatching(/^(empty|whole)$/) })
      expect((await desk.run(['runs', '--json'], env)).stdout).toBe(runs)
      expect((await desk.run(['spend'], env)).stdout).toMatch(/restored from a backup/)
    }
    expect(new Set(ends)).toEqual(new Set(['empty', 'whole']))
    expect(await desk.transfers()).toHaveLength(urls.length)
  } finally {
    await desk.close()
    for (const stores of all) await stores.cleanup()
  }
})
