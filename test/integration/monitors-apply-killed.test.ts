import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { actionPoints, applyPoints, type ApplyOrder } from '../support/action-order.ts'
import { isFullSize } from '../support/full-size.ts'
import { openHouse } from '../support/house.ts'
import { layLedger } from '../support/ledger-template.ts'
import { runOrder } from '../support/run-order.ts'
import { testSeed } from '../support/seed.ts'
import { freshStores } from '../support/stores.ts'
import { createCaller } from './sandbox-monitors.fixture.ts'

const kills = 50

interface Applied {
  steps: { do: string; state: string }[]
}

function settingsOf(name: string, type: string) {
  const operations = ['list', 'create', 'update', 'delete'].map((each) => `monitor.${each}`)
  return {
    payment: { maxPricesUsd: Object.fromEntries(operations.map((each) => [each, '0.01'])) },
    monitors: { [name]: { detection_mode: 'signal_first', signal_types: [type] } },
  }
}

/** Returns the names of all monitors without any part of our client. */
async function namesAt(sandbox: Sandbox): Promise<string[]> {
  const { body } = await createCaller(() => sandbox.serviceUrl)('GET', '/monitors?per_page=25')
  return (body.data['monitors'] as { name: string }[]).map(({ name }) => name)
}

async function clear(sandbox: Sandbox): Promise<void> {
  const call = createCaller(() => sandbox.serviceUrl)
  const { body } = await call('GET', '/monitors?per_page=25')
  for (const { monitor_id: id } of body.data['monitors'] as { monitor_id: string }[])
    await call('DELETE', `/monitors/${id}`)
}

test.skipIf(!isFullSize)(
  `over ${kills} kills of \`monitors apply\` there are never two monitors of one name, and the second apply only reads`,
  { timeout: 1_200_000 },
  async () => {
    const sandbox = await startSandbox()
    const stores = await freshStores()
    const dice = createDice(`monitors apply ${testSeed()}`)
    try {
      const dataDir = join(stores.dataDir, 'data')
      await layLedger(dataDir)
      const env = {
        PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
        PAYDIRT_API_KEY: API_KEY,
        PAYDIRT_DATA_DIR: dataDir,
        PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
        PAYDIRT_LOG_LEVEL: 'silent',
        ...(stores.databaseUrl && { DATABASE_URL: stores.databaseUrl }),
        ...(stores.redisUrl && { REDIS_URL: stores.redisUrl }),
      }
      const apply = async (name: string, kill?: ApplyOrder['kill']) =>
        runOrder<Applied>('apply-process.ts', {
          env,
          file: settingsOf(name, 'expansions'),
          // Longer than the sandbox takes to carry an action out.
          settleMs: 1_000,
          replace: false,
          kill,
        } satisfies ApplyOrder)
      let killed = 0
      let betweenCreateAndNote = 0
      let created = 0
      for (let round = 1; killed < kills; round += 1) {
        const name = `killed${round}`
        const own = async () => (await namesAt(sandbox)).filter((each) => each.includes(`[paydirt ${name}]`))
        const slow = { beforeMs: dice.integer(0, 300), afterMs: dice.integer(0, 300) }
        sandbox.faults.reset()
        sandbox.faults.set({ slowAction: { share: 1, ...slow } })
        const points: string[] = []
        for (let time = 0; time < 5 && killed < kills; time += 1) {
          const kill = dice.percent(55)
            ? { point: dice.pick(applyPoints), nth: 1 }
            : dice.percent(50)
              ? { point: 'time' as const, nth: dice.integer(0, 600) }
              : { point: dice.pick(actionPoints), nth: dice.integer(1, 2) }
          const { signal } = await apply(name, kill)
          if (signal === 'SIGKILL') killed += 1
          const made = await own()
          if (signal === 'SIGKILL' && made.length === 1) betweenCreateAndNote += 1
          points.push(`${signal ?? 'ended'} ${kill.point} ${kill.nth}: ${made.length}`)
          expect({ isOne: made.length <= 1, points }).toEqual({ isOne: true, points })
          // The monitor is known: what comes now only reads.
          if (signal === null) break
        }
        sandbox.faults.reset()
        const end = await apply(name)
        const [last] = end.printed?.steps.filter((step) => step.do !== 'delete') ?? []
        expect({ ...last, points }).toMatchObject({
          state: expect.stringMatching(/^(done|nothing)$/),
          points,
        })
        if (round % 4 === 1) {
          const before = { ...sandbox.stats().byEndpoint }
          const again = await apply(name)
          expect(again.printed?.steps.filter((step) => step.do !== 'delete')).toEqual([
            { do: 'nothing', state: 'nothing' },
          ])
          const { monitor_create: creates, monitor_update: updates } = sandbox.stats().byEndpoint
          expect([creates, updates]).toEqual([before['monitor_create'], before['monitor_update']])
        }
        expect({ made: (await own()).length, points }).toEqual({ made: 1, points })
        created += 1
        await clear(sandbox)
      }
      process.stderr.write(
        `${killed} kills, ${betweenCreateAndNote} with the monitor made, ${created} monitors, ${sandbox.stats().byEndpoint['monitor_create']} requests to create them\n`,
      )
      expect(killed).toBe(kills)
    } finally {
      await stores.cleanup()
      await sandbox.stop()
    }
  },
)

test.skipIf(!isFullSize)(
  'after a kill and another setting none is made while the first request may still make one',
  async () => {
    const sandbox = await startSandbox()
    const house = await openHouse(sandbox, { env: { PAYDIRT_API_KEY: API_KEY } })
    const env = house.variables as Record<string, string>
    await house.leave()
    const apply = (type: string, kill?: ApplyOrder['kill']) =>
      runOrder<Applied>('apply-process.ts', {
        env,
        file: settingsOf('spain', type),
        settleMs: 60_000,
        replace: false,
        kill,
      } satisfies ApplyOrder)
    try {
      sandbox.faults.set({ slowAction: { next: 1, beforeMs: 6_000 } })
      expect(await apply('jobs', { point: 'monitor asked for', nth: 1 })).toMatchObject({ signal: 'SIGKILL' })
      const { printed } = await apply('news')
      expect(printed).toEqual({ steps: [{ do: 'create', state: 'left' }] })
      await vi.waitUntil(async () => (await namesAt(sandbox)).length > 0, 60_000)
      expect((await apply('news')).printed).toEqual({ steps: [{ do: 'update', state: 'done' }] })
      expect(await namesAt(sandbox)).toEqual(['spain [paydirt spain]'])
      expect(sandbox.stats().byEndpoint['monitor_create']).toBe(1)
    } finally {
      await house.close()
      await sandbox.stop()
    }
  },
)
