import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { missingServers, startPostgres, startRedis, type Server } from '../faults/servers.ts'
import type { Running } from '../support/cli.ts'
import { call } from '../support/http-house.ts'
import { openServiceHouse } from '../support/service-house.ts'

interface Task {
  id: string
  recordId: string
  status: string
  done: boolean
  fields: { value: string }[]
}
interface Reconciled {
  difference: string
  differences: unknown[]
  ledger: { lost: string; inDoubt: string }
}

const missing = missingServers()
if (missing !== undefined) process.stderr.write(`services-killed: left out, ${missing}\n`)

const latencyMs = 1_000
const concurrency = 4
/** More than one page of the scan. */
const nightly = 120
const settings = {
  pacing: { startPerSecond: 200, concurrency },
  budgets: { runUsd: '10', dayUsd: '10' },
  schedules: { nightly: { connector: 'hubspot', object: 'companies', cron: '*/10 * * * * *' } },
} as const
const ended = ['written', 'unchanged', 'skipped', 'rejected']

/** Name and role of each service of ours that `docker compose up` brings up. */
const compose = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8')
const declared = [
  ...compose.matchAll(/^ {2}([\w-]+):\n(?: {4}.*\n)*? {4}command: \[start, --role, (\w+)\]/gm),
]
const roles = new Map(declared.map(([, name = '', role = '']) => [name, role]))

test('docker-compose.yml declares web, two workers and a scheduler', () => {
  expect([...roles].sort()).toEqual([
    ['scheduler', 'scheduler'],
    ['web', 'web'],
    ['worker', 'worker'],
    ['worker-2', 'worker'],
  ])
})

// The same processes as `docker compose up` starts, on one Redis and one Postgres; what is killed is started again.
describe.skipIf(missing !== undefined)('web, two workers and scheduler, of which is killed', () => {
  let servers: { redis: Server; postgres: Server }
  let sandbox: Sandbox

  beforeAll(async () => {
    servers = { redis: await startRedis(), postgres: await startPostgres() }
    sandbox = await startSandbox({
      faults: { paymentIdentifier: true, latency: { minMs: latencyMs, maxMs: latencyMs } },
    })
  })
  afterAll(async () => {
    await sandbox?.stop()
    await servers?.redis.stop()
    await servers?.postgres.stop()
  })

  test('each worker in turn: nothing is lost', async () => {
    const stage = await setStage()
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await stage.kill('worker')
    await stage.start('worker')
    await stage.untilUnderWay()
    await stage.kill('worker-2')
    await stage.start('worker-2')
    expect(await waiting).toHaveLength(2)
    await stage.expectNothingLost('worker, then worker-2')
  })

  test('both workers at once: nothing is lost', async () => {
    const stage = await setStage()
    await stage.untilUnderWay()
    const waiting = stage.press(2, '?wait=10')
    await stage.press(3)
    await Promise.all([stage.kill('worker'), stage.kill('worker-2')])
    await Promise.all([stage.start('worker'), stage.start('worker-2')])
    expect(await waiting).toHaveLength(2)
    await stage.expectNothingLost('both workers')
  })

  test('the web service while somebody waits: what was accepted comes to its end, under the same address', async () => {
    const stage = await setStage()
    await stage.untilUnderWay()
    const [asked] = (await stage.press(1)) as [Task]
    const [waiter = ''] = stage.house.addCompanies(1)
    const broken = stage.pressOne(waiter, '?wait=10')
    broken.catch(() => {})
    await stage.untilTaken(waiter)
    // Held up in HubSpot: a press is accepted and its record not read yet, when its process dies.
    const read = stage.house.gate.hold(/^POST .*\/companies\/batch\/read/)
    const [accepted] = (await stage.press(1)) as [Task]
    await read.arrived
    await stage.kill('web')
    await expect(broken).rejects.toThrow(/fetch failed|terminated/)
    expect(await stage.statusesOf(accepted.recordId)).toEqual(['queued'])
    read.release()

    await stage.start('web')
    for (const task of [asked, accepted]) {
      const { status, fields } = await stage.untilDone(task)
      // A planned run that met the record first has written it.
      expect(['written', 'unchanged']).toContain(status)
      expect(fields.length > 0).toBe(status === 'written')
    }
    // Whoever heard nothing presses again, and gets the task that was made of the first press.
    await stage.pressOne(waiter, '?wait=10')
    expect(await stage.statusesOf(waiter)).toHaveLength(1)
    await stage.expectNothingLost('web')
  })

  test('the scheduler in mid scan, and while its run is worked on: no run is lost, and none is begun twice', async () => {
    const stage = await setStage({ holdScan: true })
    await stage.press(3)
    await stage.kill('scheduler')
    expect(await stage.scheduledRuns()).toMatchObject([{ state: 'scanning', scanned_at: null, records: 100 }])
    stage.scan.release()
    await stage.start('scheduler')
    await stage.press(2, '?wait=10')
    // The dead one's lease runs a minute.
    await vi.waitFor(
      async () => expect((await stage.scheduledRuns())[0]).toMatchObject({ scanned_at: expect.any(Date) }),
      { timeout: 90_000, interval: 100 },
    )
    await stage.kill('scheduler')
    expect(await stage.scheduledRuns()).toMatchObject([{ state: 'working' }])
    await stage.start('scheduler')
    await stage.expectNothingLost('scheduler, twice')
  })

  async function setStage({ holdScan = false } = {}) {
    const house = await openServiceHouse(servers, sandbox, settings)
    const closes: (() => Promise<void>)[] = [house.close]
    onTestFinished(async () => {
      for (const close of closes.reverse()) await close()
    })
    const inRun = house.addCompanies(nightly)
    const scan = house.gate.hold(holdScan ? /^GET .*\/companies\?.*after=/ : /^nothing/)
    const services = new Map<string, Running>()
    let webUrl = ''

    async function start(name: string): Promise<void> {
      const role = roles.get(name) as string
      const service = house.start(role)
      services.set(name, service)
      const [, rest = ''] = await service.said(new RegExp(`^${role}: (\\S+).*\n`, 'm'))
      if (role === 'web') webUrl = rest
    }
    // On an empty database, all at the same time.
    await Promise.all([...roles.keys()].map(start))
    for (const path of ['/healthz', '/readyz'])
      expect(await call(`${webUrl}${path}`)).toMatchObject({ status: 200 })
    const { token } = (await house.run(['token', 'create', 'presser', '--json'])).json<{ token: string }>()
    const { databaseUrl: url = '', dataDir } = house.stores
    const database = await openDatabase({ url, dataDir })
    closes.push(() => database.close())
    const { db } = database
    if (holdScan) await scan.arrived

    const pressed: Task[] = []
    async function pressOne(recordId: string, query = ''): Promise<Task> {
      const body = { connector: 'hubspot', object: 'company', ids: [recordId] }
      const answer = await call<{ tasks: Task[] }>(`${webUrl}/v1/enrich${query}`, { token, body })
      expect([200, 202]).toContain(answer.status)
      const [task] = answer.body.tasks as [Task]
      if (answer.status === 200) expect(ended).toContain(task.status)
      pressed.push(task)
      return task
    }
    const statusUrl = ({ id }: Task) => `${webUrl}/v1/tasks/${id}`
    const scheduledRuns = () =>
      db.selectFrom('runs').selectAll().where('trigger', '=', 'schedule').orderBy('started_at').execute()
    const inHand = async () =>
      (await db.selectFrom('charges').select('id').where('state', '=', 'sent').execute()).map(({ id }) => id)

    return {
      house,
      scan,
      start,
      pressOne,
      scheduledRuns,
      /** Records of the run that it has not come to, and records that nobody else asks for, in turn. */
      press: (count: number, query?: string) =>
        Promise.all(
          Array.from({ length: count }, (_, index) =>
            pressOne((index % 2 ? inRun.pop() : house.addCompanies(1)[0]) as string, query),
          ),
        ),
      async kill(name: string): Promise<void> {
        const service = services.get(name) as Running
        service.kill('SIGKILL')
        expect(await service.ended).toMatchObject({ signal: 'SIGKILL' })
      },
      /** More lookups are under way than one worker may have in hand, those left by a dead one aside. */
      async untilUnderWay(): Promise<void> {
        const before = new Set(await inHand())
        await vi.waitFor(
          async () => {
            const begun = (await inHand()).filter((id) => !before.has(id))
            expect(begun.length).toBeGreaterThan(concurrency)
          },
          { timeout: 60_000, interval: 20 },
        )
      },
      async untilTaken(recordId: string): Promise<void> {
        const taken = () =>
          db.selectFrom('button_tasks').select('task_id').where('record_id', '=', recordId).execute()
        await vi.waitFor(async () => expect(await taken()).toHaveLength(1), { timeout: 10_000, interval: 20 })
      },
      /** By the ledger, for times without a web service. */
      async statusesOf(recordId: string): Promise<string[]> {
        const rows = await db
          .selectFrom('tasks')
          .innerJoin('runs', 'runs.id', 'run_id')
          .select('status')
          .where('record_id', '=', recordId)
          .where('trigger', '=', 'button')
          .execute()
        return rows.map(({ status }) => status)
      },
      async untilDone(task: Task): Promise<Task> {
        return vi.waitFor(
          async () => {
            const { status, body } = await call<Task>(statusUrl(task), { token })
            expect([status, body.done]).toEqual([200, true])
            return body
          },
          { timeout: 60_000, interval: 100 },
        )
      },
      expectNothingLost,
    }

    async function expectNothingLost(killed: string): Promise<void> {
      await expectNextRun()
      expect(await house.run(['schedules', 'pause', 'nightly'])).toMatchObject({ status: 0 })
      await expectAllEnded()
      await expectMoneyRight()
      await expectValuesInCrm()
      for (const service of services.values()) service.kill('SIGTERM')
      for (const service of services.values()) expect(await service.ended).toMatchObject({ status: 0 })
      const turns = await db.selectFrom('schedule_turns').select('run_id').execute()
      const begun = turns.filter(({ run_id: run }) => run !== null).length
      const { length: lookups } = await sandbox.transfersFrom(house.wallet)
      console.log(
        `killed ${killed}: ${begun} scheduled runs, ${pressed.length} presses, ${lookups} lookups, none lost or paid twice`,
      )
    }

    /** What comes into the CRM now is met by a later planned time. */
    async function expectNextRun(): Promise<void> {
      const [first] = await scheduledRuns()
      const late = house.addCompanies(3)
      await vi.waitFor(
        async () => {
          const tasks = await db
            .selectFrom('tasks')
            .innerJoin('runs', 'runs.id', 'run_id')
            .select('run_id')
            .where('record_id', 'in', late)
            .where('trigger', '=', 'schedule')
            .execute()
          expect(tasks).toHaveLength(late.length)
          expect(tasks.map(({ run_id: run }) => run)).not.toContain(first?.id)
        },
        { timeout: 180_000, interval: 200 },
      )
    }

    async function expectAllEnded(): Promise<void> {
      await vi.waitFor(
        async () => {
          const runs = await db.selectFrom('runs').select('id').where('state', '!=', 'finished').execute()
          const turns = db.selectFrom('schedule_turns').select('id').where('state', 'in', ['due', 'scanning'])
          expect([runs, await turns.execute()]).toEqual([[], []])
        },
        { timeout: 180_000, interval: 200 },
      )
      const tasks = await db.selectFrom('tasks').select(['run_id', 'record_id', 'status', 'reason']).execute()
      expect(tasks.filter(({ status }) => status !== 'written' && status !== 'unchanged')).toEqual([])
      expect(new Set(tasks.map((task) => `${task.run_id} ${task.record_id}`)).size).toBe(tasks.length)
      const met = new Set(tasks.map(({ record_id: id }) => id))
      expect([...house.hubspot.store.list('companies')].filter(({ id }) => !met.has(id))).toEqual([])
      for (const task of pressed) {
        const { status, body } = await call<Task>(statusUrl(task), { token })
        expect([status, body.done, ended.includes(body.status)]).toEqual([200, true, true])
      }
      // A planned time begins one run, and a run has begun at one planned time.
      const turns = await db.selectFrom('schedule_turns').selectAll().execute()
      const begun = turns.flatMap(({ run_id: run }) => (run === null ? [] : [run]))
      expect(new Set(turns.map(({ planned_at: at }) => at.getTime())).size).toBe(turns.length)
      expect(begun.sort()).toEqual((await scheduledRuns()).map(({ id }) => id).sort())
    }

    async function expectMoneyRight(): Promise<void> {
      const charges = await db.selectFrom('charges').selectAll().execute()
      expect(charges.filter(({ state }) => state !== 'settled')).toEqual([])
      const companies = [...house.hubspot.store.list('companies')].length
      expect(charges).toHaveLength(companies)
      expect(new Set(charges.map(({ lookup_key: key }) => key)).size).toBe(companies)
      const line = (nonce: string | null, amount: bigint) => `${nonce} ${amount}`
      const transfers = await sandbox.transfersFrom(house.wallet)
      expect(transfers.map((each) => line(each.nonce, each.amountAtomic)).sort()).toEqual(
        charges.map((each) => line(each.nonce, each.amount_atomic)).sort(),
      )
      expect(sandbox.stats().keysPaidTwice).toBe(0)
      const reconciled = await house.run(['reconcile', '--json'])
      expect(reconciled.json<Reconciled>()).toMatchObject({
        difference: '0.000000',
        differences: [],
        ledger: { lost: '0.000000', inDoubt: '0.000000' },
      })
      expect(reconciled.status).toBe(0)
    }

    async function expectValuesInCrm(): Promise<void> {
      const writes = await db.selectFrom('field_writes').selectAll().execute()
      // HubSpot has no option for some industries: those values it refuses, and nobody else.
      const refused = writes.filter(({ code }) => code === 'NO_SUCH_OPTION')
      const written = writes.filter(({ state }) => state === 'written')
      expect(written.length + refused.length).toBe(writes.length)
      const missing = written.filter(({ field, record_id: id, new_value: value }) => {
        const { property = '', as } = hubspotMapping.entities['companies']?.fields[field] ?? {}
        const stands = house.company(id)[property]
        return as === undefined ? stands !== String(value) : !stands
      })
      expect(missing).toEqual([])
      // Whatever was found stands in its record, and nothing else was paid for but answers that nothing is known.
      const answers = await db
        .selectFrom('tasks')
        .innerJoin('lookups', 'key', 'lookup_key')
        .select(['record_id', 'outcome'])
        .execute()
      const found = answers.filter(({ outcome }) => outcome === 'found')
      expect(answers.filter(({ outcome }) => outcome !== 'found' && outcome !== 'not_found')).toEqual([])
      const idsOf = (rows: { record_id: string }[]) => [...new Set(rows.map((row) => row.record_id))].sort()
      expect(idsOf(written)).toEqual(idsOf(found))
      // A record of which nothing is known may be in several runs.
      expect(idsOf(found).length).toBeGreaterThan(idsOf(answers).length * 0.8)
    }
  }
})
