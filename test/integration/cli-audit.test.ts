import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
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
import { startMaintenance } from '../../src/app/upkeep/maintenance.ts'
import { auditWords } from '../../src/http/desk/pages/audit.ts'
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

async function withLedger(
  { stores: { databaseUrl, dataDir } }: Awaited<ReturnType<typeof openDesk>>,
  work: (database: Awaited<ReturnType<typeof openDatabase>>) => Promise<void>,
): Promise<void> {
  const database = await openDatabase({
    dataDir: join(dataDir, 'data'),
    ...(databaseUrl === undefined ? {} : { url: databaseUrl }),
  })
  try {
    await work(database)
  } finally {
    await database.close()
  }
}

/** A sync that wrote nothing. */
async function addRun(db: Database, id: string): Promise<void> {
  const [object, at] = ['company', new Date()] as const
  await db
    .insertInto('runs')
    .values({
      id,
      connector: 'hubspot',
      object,
      entity: 'companies',
      recipe: 'profile',
      trigger: 'sync',
      state: 'finished',
      fingerprint: id,
      source: '{}',
      scanned_at: at,
      records: 0,
      started_at: at,
      finished_at: at,
    })
    .execute()
}

test('each action that the source notes has its words on the desk', async () => {
  const noted = new Set(['spending.stop', 'schedule.pause', 'suppress.remove', 'sync.start', 'charge.close'])
  for (const file of await readdir('src', { recursive: true })) {
    if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue
    const text = await readFile(join('src', file), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:noteFromCli|recordAction)\([^,]+, '([\w.]+)'/g))
      noted.add(name)
  }
  expect(noted.size).toBeGreaterThan(15)
  expect([...noted].filter((name) => !(name in auditWords))).toEqual([])
})

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
    await run('suppress', 'add', '--email', 'gone@harbour.example')
    await run('forget', '--email', 'gone@harbour.example', '--yes')
    await run('reconcile')
    await withLedger(desk, ({ db }) => addRun(db, 'r-undone'))
    await run('undo', 'r-undone', '--field', 'website')
    // An attempt that came to nothing is no action.
    expect((await desk.run(['runs', 'r-unknown', '--stop', 'why'], env)).status).toBe(2)
    expect((await desk.run(['runs', '--resume'], env)).status).toBe(2)
    expect((await desk.run(['token', 'revoke', id], env)).status).toBe(2)
    expect((await desk.run(['schedules', 'pause', 'weekly'], env)).status).toBe(2)

    await withLedger(desk, async ({ db }) => {
      expect(await actionsIn(db)).toEqual([
        ['cli', 'shell', 'spending.stop', undefined],
        ['cli', 'shell', 'spending.resume', undefined],
        ['cli', 'shell', 'token.create', id],
        ['cli', 'shell', 'token.revoke', id],
        ['cli', 'shell', 'schedule.pause', 'nightly'],
        ['cli', 'shell', 'schedule.resume', 'nightly'],
        ['cli', 'shell', 'schedule.run', 'nightly'],
        ['cli', 'shell', 'suppress.add', undefined],
        ['cli', 'shell', 'forget', undefined],
        ['cli', 'shell', 'reconcile', undefined],
        ['cli', 'shell', 'run.undo', 'r-undone'],
        ['cli', 'shell', 'run.undone', 'r-undone'],
      ])
      // The row does not say who was forgotten.
      const [forgotten] = (await createAuditLog(db, { now: () => new Date() }).list(20)).filter(
        ({ action }) => action === 'forget',
      )
      expect(forgotten?.details).toMatchObject({ lookups: 0, tasks: 0, charges: 0, suppressed: 0 })
    })
  } finally {
    await desk.close()
  }
})

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
      lookups: { unparkBy: async () => void (await leaveOrder(config, 'stop', 'a wrong list')) },
    } as unknown as Parameters<typeof obeyOrders>[0]
    await leaveOrder(config, 'resume')
    await obeyOrders(context)
    expect(await spendSwitch.isStopped()).toBeUndefined()
    await obeyOrders(context)
    expect(await spendSwitch.isStopped()).toMatchObject({ reason: 'a wrong list' })
    expect(await readdir(dataDir)).toEqual([])
  } finally {
    await close()
    await rm(dataDir, { recursive: true })
  }
})
