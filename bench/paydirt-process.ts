// `paydirt start --role …` in a process of its own, preceded by the scan of a nightly run.
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { resolveConfig } from '../src/app/config/config.ts'
import { fileSchema, type FileConfig } from '../src/app/config/file.ts'
import { openConnector } from '../src/app/context/connectors.ts'
import { createContext } from '../src/app/context/context.ts'
import { readEnvironment } from '../src/app/config/environment.ts'
import { limitHeap } from '../src/app/context/heap-limits.ts'
import { start, type Role, type Running } from '../src/app/start.ts'
import { makeReady, openRun } from '../src/app/runs/sync.ts'
import { createToken } from '../src/app/web/tokens.ts'
import { scan } from '../src/producers/scan.ts'
import { createAdvance } from '../src/planning/advance.ts'
import { readOrder, serveParent } from './child.ts'
import { startMeter } from './meter.ts'
import { countRedisCommands } from './redis-commands.ts'

export interface PaydirtOrder {
  env: Record<string, string>
  file: FileConfig
  /** Counts the commands sent to Redis. */
  countsRedis?: boolean
}

limitHeap()
const order = readOrder<PaydirtOrder>()
const redisCommands = order.countsRedis ? countRedisCommands() : undefined
const config = resolveConfig(
  readEnvironment({ PAYDIRT_PORT: '0', ...order.env }),
  fileSchema.parse(order.file),
)
const context = await createContext(config)
const meter = startMeter()
const loop = monitorEventLoopDelay({ resolution: 5 })
let running: Running | undefined

serveParent(
  {
    /** Makes a task of every company, as a nightly sync does. Returns their number. */
    async scanAll(): Promise<number> {
      const engine = await context.openEngine()
      const connector = await openConnector(config, 'hubspot', engine)
      await makeReady(connector, ['companies'])
      const job = { entity: 'companies', filter: [] }
      const { run } = await openRun(context, connector, job, 'scanning', { trigger: 'schedule' })
      const advance = createAdvance({ ...context.planning, onReady: () => {}, onWanted: () => {} })
      const records = await scan(run, connector, { ...context.planning, runs: context.runs, advance })
      await connector.close()
      return records
    },
    /** Returns the longest delay of this process's event loop since the last call. */
    stalledMs() {
      const longestMs = loop.max / 1e6
      loop.enable()
      loop.reset()
      return longestMs
    },
    async start(role: Role): Promise<{ url: string }> {
      running = await start(context, role)
      return { url: /web: (\S+)/.exec(running.parts.join('\n'))?.[1] ?? '' }
    },
    async token(): Promise<string> {
      const request = { name: 'bench', scopes: ['enrich' as const], perMinute: 100_000, dayCapAtomic: null }
      return (await createToken(context, request)).token
    },
    async states() {
      const rows = await context.database.db
        .selectFrom('lookups')
        .select((eb) => ['state', eb.fn.countAll<bigint>().as('lookups')])
        .groupBy('state')
        .execute()
      return Object.fromEntries(rows.map(({ state, lookups }) => [state, Number(lookups)]))
    },
    /** Returns for each press when it came to which stage, in milliseconds since `startMs`. */
    async pressTimes(startMs: number) {
      const rows = await context.database.db
        .selectFrom('tasks')
        .innerJoin('runs', 'runs.id', 'tasks.run_id')
        .leftJoin('charges', 'charges.lookup_key', 'tasks.lookup_key')
        .select([
          'tasks.status',
          'runs.started_at',
          'charges.created_at',
          'charges.sent_at',
          'charges.closed_at',
          'tasks.updated_at',
        ])
        .where('runs.trigger', '=', 'button')
        .orderBy('tasks.id')
        .execute()
      const since = (at: Date | null) => (at ? at.getTime() - startMs : null)
      return rows.map((row) => ({
        status: row.status,
        asked: since(row.started_at),
        reserved: since(row.created_at),
        sent: since(row.sent_at),
        settled: since(row.closed_at),
        ended: since(row.updated_at),
      }))
    },
    /** Returns how many deliveries of monitors wait. */
    async deliveriesLeft(): Promise<number> {
      const { left } = await context.database.db
        .selectFrom('monitor_deliveries')
        .select((eb) => eb.fn.countAll<bigint>().as('left'))
        .where('done_at', 'is', null)
        .executeTakeFirstOrThrow()
      return Number(left)
    },
    redisCommands: () => redisCommands,
    async pace() {
      return (await context.openEngine()).pacer.snapshot()
    },
    async stop() {
      const startedMs = performance.now()
      await running?.stop()
      running = undefined
      return { tookMs: performance.now() - startedMs, ...(await meter.stop()) }
    },
  },
  async () => {
    await running?.stop()
    await context.close()
  },
)
