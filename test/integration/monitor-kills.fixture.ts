import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { applyMonitors } from '../../src/app/monitors/apply-monitors.ts'
import { compareMonitors } from '../../src/app/monitors/compare-monitors.ts'
import { resolveConfig } from '../../src/app/config/config.ts'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { fileSchema } from '../../src/app/config/file.ts'
import { createContext } from '../../src/app/context/context.ts'
import { queryLedger } from '../../src/app/queries/query-ledger.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { createDice } from '../../src/sandbox/random.ts'
import type { Sandbox } from '../../src/sandbox/sandbox.ts'
import { deliveryCounts } from '../../src/store/messages/monitor-deliveries.ts'
import { knownMonitors } from '../../src/store/monitors/declared-monitors.ts'
import { openHouse } from '../support/house.ts'
import { testSeed } from '../support/seed.ts'
import { shortProcess } from '../support/short-process.ts'

const secret = 'the-secret-of-the-monitor'
const program = join(import.meta.dirname, '../support/hook-process.ts')
const signal = new AbortController().signal
const times = 3
const atOnce = 4

interface Kills {
  signals: number
  kills: number
}

/** The work that the ledger shows, by company and signal, beside the deliveries that were sent. */
export interface Worked {
  /** Tasks by company: one for each delivery that was worked. */
  tasks: Record<string, number>
  /** Meanings that belong to a delivery, by company. */
  meanings: Record<string, number>
  killed: number
  /** Deliveries that were answered with 200, and those that met a dead process and never came again. */
  answered: number
  lost: number
  outcomes: Record<string, number>
}

/**
 * Has a monitor detect signals of five companies, and sends each three times in random order (two of the three as other bytes), to a
 * process that is killed at random moments. Nothing is sent of a tenth of the signals: that is the outage. A delivery that meets a dead
 * process never comes again. Then the logs are read, by processes that are killed too, and everything is worked.
 */
export async function deliverAndKill(sandbox: Sandbox, { signals, kills }: Kills): Promise<Worked> {
  const dice = createDice(`monitor kills ${testSeed()}`)
  sandbox.faults.set({ plan: { max_search_per_page: 100, max_search_page: 1_000 } } as never)
  const prices = Object.fromEntries(
    ['list', 'read', 'create', 'update', 'logs'].map((name) => [`monitor.${name}`, '0.05']),
  )
  const house = await openHouse(sandbox, {
    env: { PAYDIRT_API_KEY: API_KEY, PAYDIRT_MONITOR_SECRET: secret, PAYDIRT_PORT: '0' },
    config: {
      payment: { maxPriceUsd: '0.05', maxPricesUsd: prices },
      http: { monitor: { logsEveryMinutes: 0 } },
      monitors: { dach: { detection_mode: 'signal_first', signal_types: ['expansions'] } },
    } as never,
  })
  const order = { env: { ...house.variables }, file: house.settings }
  let current: Awaited<ReturnType<typeof startHook>> | undefined
  try {
    const { steps } = await compareMonitors(house.context, { signal })
    await applyMonitors(house.context, steps, { prune: false, replace: false, signal })
    const [known] = await knownMonitors(house.context.database.db)
    const id = known!.monitorId
    await house.leave()

    const all = Array.from({ length: signals }, (_, at) => ({
      signal_id: `s${at}`,
      type: 'news',
      title: `t${at}`,
      domain: `company-${at % 5}.example`,
    }))
    for (const each of all) await sandbox.monitors.deliver(id, [each])
    const outage = { from: Math.floor(signals / 2), to: Math.floor(signals / 2) + Math.ceil(signals / 10) }
    const sendings = all
      .flatMap((each, at) =>
        at >= outage.from && at < outage.to
          ? []
          : Array.from({ length: times }, (_, time) => ({ each, time, at: dice.roll() })),
      )
      .toSorted((a, b) => a.at - b.at)
    const logKills = Math.ceil(kills / 10)
    const killAt = Array.from({ length: kills - logKills }, () => Math.floor(dice.roll() * sendings.length))
    killAt.sort((a, b) => a - b)

    let [answered, lost, killed] = [0, 0, 0]
    const send = async ({ each, time }: (typeof sendings)[number]) => {
      const status = await post(`${current?.url}/hooks/monitor`, {
        monitor: { monitor_id: id, name: 'dach [paydirt dach]' },
        triggered_at: new Date(Date.UTC(2026, 10, 20, 12, 0, Math.max(0, time - 1))).toISOString(),
        signals: [each],
      })
      if (status === 200) answered += 1
      else lost += 1
    }
    current = await startHook(order)
    for (let at = 0; at < sendings.length; at += atOnce) {
      const sent = Promise.all(sendings.slice(at, at + atOnce).map(send))
      if (killAt[0] !== undefined && killAt[0] < at + atOnce) {
        killAt.shift()
        // While these are received, worked, or on their way.
        await new Promise((resolve) => setTimeout(resolve, dice.roll() * 20))
        await current.kill()
        killed += 1
        await sent
        current = await startHook(order)
      } else await sent
    }
    await current.kill()
    killed += 1
    for (let time = 1; time < logKills; time += 1) {
      const reading = await startHook(order, true)
      await new Promise((resolve) => setTimeout(resolve, dice.roll() * 1_500))
      await reading.kill()
      killed += 1
    }
    const reading = await startHook(order, true)
    await reading.ended
    current = await startHook(order)
    await untilWorked(order)
    await current.kill()
    current = undefined
    return { ...(await booksOf(order)), killed, answered, lost }
  } finally {
    await current?.kill()
    await house.close()
  }
}

/** Returns whether each pair of company and signal was worked once, and none is missing. */
export function workedOnce({ tasks, meanings }: Worked, signals: number): boolean {
  const of = (company: number) => Math.floor((signals - 1 - company) / 5) + 1
  return [0, 1, 2, 3, 4].every(
    (company) =>
      tasks[`company-${company}.example`] === of(company) &&
      meanings[`company-${company}.example`] === of(company),
  )
}

async function startHook(order: Order, isReading = false) {
  const child = spawn(
    process.execPath,
    ['--no-warnings', ...shortProcess, program, JSON.stringify({ ...order, catchUp: isReading })],
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, NODE_ENV: 'test' } },
  )
  const ended = once(child, 'exit')
  const lines = createInterface(child.stdout)
  const [url] = (await Promise.race([once(lines, 'line'), ended.then(() => [''])])) as [string]
  if (url === '') throw new Error('the process ended before it was ready')
  return {
    url,
    ended,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function post(url: string, body: object): Promise<number> {
  try {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-paydirt-monitor-secret': secret },
      body: JSON.stringify(body),
    })
    await answer.arrayBuffer()
    return answer.status
  } catch {
    return 0
  }
}

/** Waits until no delivery waits, as `paydirt monitors deliveries` tells beside the process that works them. */
async function untilWorked(order: Order): Promise<void> {
  for (;;) {
    const { monitors, others } = await queryLedger(configOf(order), 'monitorDeliveries', {})
    const counts = [...monitors.flatMap(({ deliveries }) => deliveries), ...others]
    if (counts.every(({ outcome }) => outcome !== 'waiting')) return
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
}

interface Order {
  env: object
  file: object
}

const configOf = ({ env, file }: Order) =>
  resolveConfig(readEnvironment(env as Record<string, string>), fileSchema.parse(file))

async function booksOf(order: Order) {
  const context = await createContext(configOf(order))
  try {
    const { db } = context.database
    const tasks = await db
      .selectFrom('tasks')
      .innerJoin('runs', 'runs.id', 'tasks.run_id')
      .select((eb) => ['record_id as company', eb.fn.countAll<bigint>().as('count')])
      .where('runs.connector', '=', 'monitor')
      .groupBy('record_id')
      .execute()
    const meanings = await db
      .selectFrom('monitor_seen')
      .select((eb) => ['company', eb.fn.countAll<bigint>().as('count')])
      .groupBy('company')
      .execute()
    const counts = (rows: { company: string | null; count: bigint }[]) =>
      Object.fromEntries(rows.map(({ company, count }) => [company ?? '', Number(count)]))
    const outcomes: Record<string, number> = {}
    for (const { outcome, deliveries } of await deliveryCounts(db))
      outcomes[outcome] = (outcomes[outcome] ?? 0) + deliveries
    return { tasks: counts(tasks), meanings: counts(meanings), outcomes }
  } finally {
    await context.close()
  }
}
