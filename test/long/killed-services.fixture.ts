import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, vi } from 'vitest'
import { hubspotMapping } from '../../src/connectors/hubspot/mapping.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDatabase } from '../../src/store/database/database.ts'
import { retryWhileAway } from '../../src/store/database/retry-while-away.ts'
import type { Server } from '../faults/servers.ts'
import type { Running } from '../support/cli.ts'
import { call } from '../support/http-house.ts'
import { openServiceHouse } from '../support/service-house.ts'

export interface Task {
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

/** So many that background lookups go to the queue in blocks, of two. */
const concurrency = 8
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
/** Service name to role. */
export const roles = new Map(declared.map(([, name = '', role = '']) => [name, role]))

/** Starts the services of docker-compose.yml at once on one Redis and one Postgres, with companies for a scheduled run. */
export async function openKilledServices(
  servers: { redis: Pick<Server, 'url'>; postgres: Pick<Server, 'url'> },
  sandbox: Sandbox,
  { holdScan = false, program }: { holdScan?: boolean; program?: string } = {},
) {
  const house = await openServiceHouse(servers, sandbox, settings)
  const closes: (() => Promise<void>)[] = [house.close]
  onTestFinished(async () => {
    for (const close of closes.reverse()) await close()
  })
  const inRun = house.addCompanies(nightly)
  const scan = house.gate.hold(holdScan ? /^GET .*\/companies\?.*after=/ : /^nothing/)
  const services = new Map<string, Running>()
  let webUrl = ''

  async function start(name: string, by = program): Promise<void> {
    const role = roles.get(name) as string
    const service = house.start(role, by)
    services.set(name, service)
    const [, rest = ''] = await service.said(new RegExp(`^${role}: (\\S+).*\n`, 'm'))
    if (role === 'web') webUrl = rest
  }
  // On an empty database, all at the same time.
  await Promise.all([...roles.keys()].map((name) => start(name)))
  for (const path of ['/healthz', '/readyz'])
    expect(await call(`${webUrl}${path}`)).toMatchObject({ status: 200 })
  const create = ['token', 'create', 'presser', '--per-minute', '6000', '--json']
  const created = await (program ? house.runBy(program, create) : house.run(create))
  const { token } = created.json<{ token: string }>()
  const { databaseUrl: url = '', dataDir } = house.stores
  const database = await openDatabase({ url, dataDir, migratedBy: 'caller' })
  closes.push(() => database.close())
  const { db } = database
  if (holdScan) await scan.arrived

  const pressed: Task[] = []
  async function pressOne(recordId: string, query = ''): Promise<Task> {
    const body = { connector: 'hubspot', object: 'company', ids: [recordId] }
    const send = () => call<{ tasks: Task[] }>(`${webUrl}/v1/enrich${query}`, { token, body })
    let answer = await send()
    // A store that was away for seconds: programs are asked to come again, and nothing was stored.
    for (let tries = 0; answer.status === 503 && tries < 5; tries++) {
      await setTimeout(1_000 * Number(answer.headers.get('retry-after')))
      answer = await send()
    }
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
    /** Starts another program in its place, and then ends it as a supervisor does. */
    async replace(name: string, by: string): Promise<void> {
      const before = services.get(name) as Running
      await start(name, by)
      before.kill('SIGTERM')
      expect(await before.ended).toMatchObject({ status: 0 })
    },
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

  /** Expects that a later planned time meets a record that comes into the CRM now. */
  async function expectNextRun(): Promise<void> {
    const [first] = await retryWhileAway(scheduledRuns, { forMs: 60_000 })
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
    // Every value found stands in its record, and nothing else was paid for but answers that nothing is known.
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
