import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { FileConfig } from '../../src/app/config/file.ts'
import { startHubspotStandIn, type HubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { testSeed } from '../support/seed.ts'

interface View {
  name: string
  isPaused: boolean
  pausedBy: string | null
  nextAt: string | null
  last: { entity: string; cause: string; state: string; runId: string; runState: string }[]
}

const nightly = {
  connector: 'hubspot',
  object: 'companies',
  cron: '0 2 1 1 *',
  timeZone: 'Europe/Berlin',
} as const

let sandbox: Sandbox
let hubspot: HubspotStandIn
let desk: Desk

beforeAll(async () => {
  sandbox = await startSandbox()
  hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 5, contacts: 0 })
})
afterAll(async () => {
  await hubspot.stop()
  await sandbox.stop()
})
afterEach(() => desk.close())

const open = async (schedules: FileConfig['schedules']) =>
  void (desk = await openDesk(sandbox, { config: { schedules } }))
const environment = () => ({
  HUBSPOT_BASE_URL: hubspot.baseUrl,
  HUBSPOT_ACCESS_TOKEN: hubspot.token,
  PAYDIRT_PORT: '0',
})
const schedules = (...args: string[]) => desk.run(['schedules', ...args], environment())
const list = async () => (await schedules('--json')).json<View[]>()

test('schedules are listed, paused, resumed and run from the command line', async () => {
  await open({ nightly })
  expect(await list()).toMatchObject([{ name: 'nightly', isPaused: false, nextAt: null, last: [] }])
  expect(await schedules('pause', 'nightly')).toMatchObject({ status: 0, stdout: '' })
  expect(await list()).toMatchObject([{ isPaused: true, pausedBy: expect.any(String), nextAt: null }])
  expect((await schedules()).stdout).toMatch(/^nightly: hubspot companies, .*Europe\/Berlin.*, paused\n$/)
  expect(await schedules('resume', 'nightly')).toMatchObject({ status: 0 })
  expect((await list())[0]?.nextAt).toMatch(/^20\d\d-01-01T01:00:00\.000Z$/)
  const unknown = await schedules('run', 'weekly')
  expect(unknown).toMatchObject({ status: 2, stdout: '' })
  expect(unknown.stderr).toMatch(/no schedule weekly; the config has nightly/)

  expect(await schedules('run', 'nightly')).toMatchObject({ status: 0 })
  const service = desk.start(['start'], environment())
  // The first request to the service for a charge says that the run is on its way.
  const before = sandbox.stats().settled
  const ended = await service.killWhen('SIGTERM', () => sandbox.stats().settled > before)
  expect(ended).toMatchObject({ status: 0 })
  expect(ended.stderr).toMatch(/scheduler: nightly;/)
  const [view] = await list()
  expect(view?.last).toMatchObject([{ entity: 'companies', cause: 'run_now', state: 'handed_over' }])
})

test('a schedule that cannot be kept is refused at the start, by its name', async () => {
  await open({ nightly: { ...nightly, timeZone: 'Europe/Nowhere' } })
  const ended = await desk.run(['start', '--role', 'scheduler'], environment())
  expect(ended).toMatchObject({ status: 2, stdout: '' })
  expect(ended.stderr).toMatch(/schedules\.nightly.*Europe\/Nowhere is not a time zone/)
})

test.skipIf(!process.env['DATABASE_URL'] || !process.env['REDIS_URL'])(
  'a scheduler killed in mid scan loses nothing: the other one goes on with the same run',
  async () => {
    const many = await startHubspotStandIn({
      seed: testSeed(),
      companies: 1_500,
      contacts: 0,
      // Slow enough to be in the midst of it, and no faster than a real account.
      limits: { searchPerSecond: 4, perTenSeconds: 190 },
    })
    await open({ nightly })
    const crm = { ...environment(), HUBSPOT_BASE_URL: many.baseUrl, HUBSPOT_ACCESS_TOKEN: many.token }
    expect(await desk.run(['schedules', 'run', 'nightly'], crm)).toMatchObject({ status: 0 })
    const database = await openDatabase({
      dataDir: desk.folder,
      ...(desk.stores.databaseUrl ? { url: desk.stores.databaseUrl } : {}),
    })
    const runs = () => database.db.selectFrom('runs').selectAll().execute()
    try {
      const first = desk.start(['start', '--role', 'scheduler'], crm)
      await vi.waitFor(async () => expect((await runs())[0]?.records).toBeGreaterThan(0), {
        timeout: 60_000,
        interval: 20,
      })
      const second = desk.start(['start', '--role', 'scheduler'], crm)
      first.kill('SIGKILL')
      await first.ended
      expect((await runs())[0]).toMatchObject({ state: 'scanning', scanned_at: null })
      // The dead one's lease runs a minute.
      await vi.waitFor(
        async () => expect((await runs())[0]).toMatchObject({ state: 'working', records: 1_500 }),
        { timeout: 150_000, interval: 200 },
      )
      second.kill('SIGTERM')
      expect((await second.ended).status).toBe(0)
      expect(await runs()).toHaveLength(1)
      const tasks = await database.db.selectFrom('tasks').select('record_id').execute()
      expect([tasks.length, new Set(tasks.map(({ record_id: id }) => id)).size]).toEqual([1_500, 1_500])
      expect(await database.db.selectFrom('watermarks').selectAll().execute()).toHaveLength(1)
    } finally {
      await database.close()
      await many.stop()
    }
  },
  300_000,
)
