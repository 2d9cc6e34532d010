import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { Config } from '../../src/app/config/config.ts'
import {
  isPending,
  leaveOrder,
  obeyOrders,
  orderSpending,
  type SpendOrder,
} from '../../src/app/money/spend-switch.ts'
import { startMaintenance } from '../../src/app/runs/maintenance.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createAuditLog } from '../../src/store/access/audit.ts'
import { openDatabase, type Database } from '../../src/store/database/database.ts'
import { createSpendSwitch } from '../../src/store/ledger/spend-switch.ts'
import { openDesk } from '../support/cli.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { openHouse } from '../support/house.ts'

let sandbox: Sandbox

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox?.stop())

const actionsIn = async (db: Database) =>
  (await createAuditLog(db, { now: () => new Date() }).list(20))
    .reverse()
    .map(({ actor, role, action, target }) => [actor, role, action, target])

test('what is stopped, made, revoked and paused from the command line is audited', async () => {
  const nightly = { connector: 'hubspot', object: 'companies', cron: '0 2 1 1 *', timeZone: 'UTC' } as const
  const desk = await openDesk(sandbox, { config: { schedules: { nightly } }, fundsAtomic: 0n })
  const env = { HUBSPOT_BASE_URL: 'http://127.0.0.1:9', HUBSPOT_ACCESS_TOKEN: 'pat' }
  const run = async (...args: string[]) => {
    const ended = await desk.run(args, env)
    expect([args, ended.status, ended.stderr]).toEqual([args, 0, expect.any(String)])
    return ended
  }
  try {
    await run('spend', '--stop')
    await run('spend', '--resume')
    const { id } = (await run('token', 'create', 'hooks', '--json')).json<{ id: string }>()
    await run('token', 'revoke', id)
    for (const change of ['pause', 'resume', 'run']) await run('schedules', change, 'nightly')
    // An attempt that came to nothing is no action.
    expect((await desk.run(['runs', 'r-unknown', '--stop', 'why'], env)).status).toBe(2)
    expect((await desk.run(['runs', '--resume'], env)).status).toBe(2)
    expect((await desk.run(['token', 'revoke', id], env)).status).toBe(2)
    expect((await desk.run(['schedules', 'pause', 'weekly'], env)).status).toBe(2)

    const { databaseUrl, dataDir } = desk.stores
    const database = await openDatabase({
      dataDir: join(dataDir, 'data'),
      ...(databaseUrl === undefined ? {} : { url: databaseUrl }),
    })
    try {
      expect(await actionsIn(database.db)).toEqual([
        ['cli', 'shell', 'spending.stop', undefined],
        ['cli', 'shell', 'spending.resume', undefined],
        ['cli', 'shell', 'token.create', id],
        ['cli', 'shell', 'token.revoke', id],
        ['cli', 'shell', 'schedule.pause', 'nightly'],
        ['cli', 'shell', 'schedule.resume', 'nightly'],
        ['cli', 'shell', 'schedule.run', 'nightly'],
      ])
    } finally {
      await database.close()
    }
  } finally {
    await desk.close()
  }
}, 60_000)

test('an order that was left for the process at work is audited once, also in a process of several roles', async () => {
  const house = await openHouse(sandbox)
  try {
    const { context } = house
    /** Only an embedded ledger needs orders to be left. */
    const order = async (wish: SpendOrder) => {
      if (context.database.kind !== 'pglite') return orderSpending(context, wish)
      const name = await leaveOrder(context.config, wish)
      const maintenance = await startMaintenance(context, ['worker', 'scheduler'])
      await vi.waitFor(async () => expect(await isPending(context.config, name)).toBe(false), 10_000)
      await maintenance.stop()
    }
    await order('stop')
    expect(await context.spendSwitch.isStopped()).toBeDefined()
    await order('resume')
    expect(await context.spendSwitch.isStopped()).toBeUndefined()
    expect((await actionsIn(context.database.db)).map(([, , action]) => action)).toEqual([
      'spending.stop',
      'spending.resume',
    ])
  } finally {
    await house.close()
  }
})

test('an order to stop that arrives while an order to resume is obeyed is obeyed too', async () => {
  const { database, close } = await openFreshLedger()
  const dataDir = await mkdtemp(join(tmpdir(), 'paydirt-orders-'))
  try {
    const now = () => new Date()
    const spendSwitch = createSpendSwitch(database.db, { now })
    const config = { dataDir } as Config
    await spendSwitch.stop('before')
    const context = {
      config,
      now,
      spendSwitch,
      database: { ...database, kind: 'pglite' as const },
      // Another terminal gives the order here.
      lookups: { unparkBy: async () => void (await leaveOrder(config, 'stop')) },
    } as unknown as Parameters<typeof obeyOrders>[0]
    await leaveOrder(config, 'resume')
    await obeyOrders(context)
    expect(await spendSwitch.isStopped()).toBeUndefined()
    await obeyOrders(context)
    expect(await spendSwitch.isStopped()).toBeDefined()
    expect(await readdir(dataDir)).toEqual([])
  } finally {
    await close()
    await rm(dataDir, { recursive: true })
  }
})
