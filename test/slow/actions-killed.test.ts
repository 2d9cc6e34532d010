import { join } from 'node:path'
import { expect, test } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { createDice } from '../../src/sandbox/random.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { actionPoints, type ActionKill, type ActionOrder } from '../support/action-order.ts'
import { openDesk } from '../support/cli.ts'
import { isFullSize, sized } from '../support/full-size.ts'
import { layLedger } from '../support/ledger-template.ts'
import { testSeed } from '../support/seed.ts'
import { runOrder } from '../support/run-order.ts'
import { freshStores } from '../support/stores.ts'
import { createCaller, monitorFields } from '../integration/sandbox-monitors.fixture.ts'

const limitMs = 1_200_000

/** Counts the monitors of a name without any part of our client. */
async function count(sandbox: Sandbox, name: string): Promise<number> {
  const call = createCaller(() => sandbox.serviceUrl)
  const { body } = await call('GET', '/monitors?per_page=25')
  return (body.data['monitors'] as { name: string }[]).filter((each) => each.name === name).length
}

async function run(order: ActionOrder): Promise<{ signal: string | null; end?: { state: string } }> {
  const { signal, printed } = await runOrder<{ state: string }>('action-process.ts', order)
  return { signal, ...(printed && { end: printed }) }
}

test.each<[string, number]>([
  ['profnet', sized(20, 1)],
  ...(isFullSize ? [['guild', 20] as [string, number]] : []),
])(
  'processes that are killed at random make each monitor once, on the network %s: %i kills',
  { timeout: limitMs },
  async (networkName, kills) => {
    const sandbox = await startSandbox({ networkName })
    const stores = await freshStores()
    try {
      const dataDir = join(stores.dataDir, 'data')
      await layLedger(dataDir)
      const seed = `${testSeed()} ${networkName}`
      const dice = createDice(seed)
      const prices = Object.fromEntries(
        ['monitor.create', 'monitor.list'].map((operation) => [operation, '0.01']),
      )
      const env = {
        PAYDIRT_SERVICE_URL: sandbox.serviceUrl,
        PAYDIRT_NETWORK_NAME: networkName,
        PAYDIRT_API_KEY: API_KEY,
        PAYDIRT_DATA_DIR: dataDir,
        PAYDIRT_REDIS_PREFIX: stores.redisPrefix,
        PAYDIRT_LOG_LEVEL: 'silent',
        ...(stores.databaseUrl && { DATABASE_URL: stores.databaseUrl }),
        ...(stores.redisUrl && { REDIS_URL: stores.redisUrl }),
      }
      const trace: string[] = []
      let killed = 0
      for (let round = 1; killed < kills; round += 1) {
        const name = `Killed ${round}`
        const order = (kill?: ActionKill): ActionOrder => ({
          env,
          file: { payment: { maxPricesUsd: prices } },
          operation: 'monitor.create',
          body: monitorFields({ name, signal_types: ['jobs', 'news'] }),
          // Longer than the sandbox takes to carry an action out.
          settleMs: 1_000,
          kill,
        })
        // An action is slow before its change and after it, so that kills hit both; sometimes it is not made, or has no answer.
        const fault = dice.pick(['slowAction', 'dropBeforeAction', 'dropAfterAction', 'errorAfterAction'])
        const slow = { beforeMs: dice.integer(0, 300), afterMs: dice.integer(0, 300) }
        sandbox.faults.reset()
        sandbox.faults.set({
          slowAction: { share: 1, ...slow },
          ...(fault !== 'slowAction' && { [fault]: { next: 1 } }),
        })
        const points: string[] = []
        let done = false
        while (!done && points.length < 3 && killed < kills) {
          const kill: ActionKill = dice.percent(40)
            ? { point: 'time', nth: dice.integer(0, 700) }
            : { point: dice.pick(actionPoints), nth: dice.integer(1, 2) }
          const { signal, end } = await run(order(kill))
          if (signal === 'SIGKILL') killed += 1
          done = end?.state === 'done'
          points.push(`${signal === null ? 'not killed' : 'killed'} ${kill.point} ${kill.nth}`)
        }
        for (let tries = 0; !done && tries < 3; tries += 1) done = (await run(order())).end?.state === 'done'
        const made = await count(sandbox, name)
        trace.push(`${name}: ${fault}, ${points.join(', ')}: ${made} made`)
        expect({ done, made, trace: trace.at(-1) }).toMatchObject({ done: true, made: 1 })
      }
      process.stderr.write(
        `${killed} kills with the seed "${seed}", ${trace.length} monitors, ${sandbox.stats().byEndpoint['monitor_create']} requests to create them:\n  ${trace.join('\n  ')}\n`,
      )
    } finally {
      await stores.cleanup()
      await sandbox.stop()
    }
  },
)

test('a command that is killed after the change finds its monitor again, and sends nothing', async () => {
  const sandbox = await startSandbox()
  const desk = await openDesk(sandbox)
  try {
    const env = { PAYDIRT_API_KEY: API_KEY }
    const command = [
      'service',
      'call',
      'monitor.create',
      '--json',
      JSON.stringify(monitorFields({ name: 'Once', signal_types: ['expansions'] })),
      '--max-usd',
      '0.01',
      '--unchecked',
      '--yes',
    ]
    sandbox.faults.set({ slowAction: { next: 1, afterMs: 60_000 } })
    let isMade = false
    const watch = setInterval(() => void count(sandbox, 'Once').then((made) => (isMade ||= made > 0)), 50)
    const killed = await desk.start(command, env).killWhen('SIGKILL', () => isMade)
    clearInterval(watch)
    expect(killed.signal).toBe('SIGKILL')

    const listed = await desk.run(['service', 'actions'], env)
    expect(listed.stdout).toMatch(/monitor\.create "Once" {2}in doubt since .*\n.*the same call reads/s)
    const found = await desk.run(command, env)
    expect([found.status, found.stderr]).toEqual([
      0,
      expect.stringContaining(
        'an earlier command has sent it, and a reading shows that it is done: it was not sent again',
      ),
    ])
    expect(found.json()).toMatchObject({ data: { name: 'Once' } })
    const again = await desk.run(command, env)
    expect([again.status, again.stderr]).toEqual([2, expect.stringMatching(/was done on .*: --again/)])
    expect((await desk.run(['service', 'actions', '--json'], env)).json()).toEqual({ actions: [] })
    expect([await count(sandbox, 'Once'), sandbox.stats().byEndpoint['monitor_create']]).toEqual([1, 1])
    process.stderr.write(
      `kill -9 during monitor.create: ${listed.stdout}then: ${found.stderr}then: ${again.stderr}monitors: 1, requests: 1\n`,
    )
  } finally {
    await desk.close()
    await sandbox.stop()
  }
})
