import { randomUUID } from 'node:crypto'
import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, describeError } from '../../domain/errors.ts'
import { createAdvance } from '../../planning/advance.ts'
import { createScheduleQueue } from '../../queues/schedules.ts'
import { createScheduleLedger } from '../../store/runs/schedules.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Schedule } from '../config/schedules.ts'
import { openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { entitiesOf } from '../context/entities.ts'
import { runOccurrence } from './occurrence.ts'
import { assertListed } from './list-occurrence.ts'
import { assertReported } from './report-occurrence.ts'
import { assertChampions, assertWatched } from './watch-occurrence.ts'
import { dueTime, plannedOccurrences } from './planned-occurrences.ts'
import { moduleLog } from '../context/log.ts'

export interface Schedules {
  /** Looks for due schedules at once, as the poll loop does. */
  look(): Promise<void>
  stop(graceMs: number): Promise<void>
}

export interface SchedulesOptions {
  everyMs?: number
  /** A scheduler that does not renew its lease for so long loses its occurrence. */
  leaseMs?: number
  /** Between two tries of an occurrence that cannot begin. */
  retryMs?: number
}

/**
 * Runs the schedules of the configuration, together with every other scheduler. Throws ConfigError, naming the schedule,
 * when its connector is not set up or has no such object or recipe.
 */
export async function startSchedules(context: Context, options: SchedulesOptions = {}): Promise<Schedules> {
  const { everyMs = 5_000, leaseMs = 60_000, retryMs = 15_000 } = options
  const { config, log, now } = context
  const engine = await context.openEngine()
  const ledger = createScheduleLedger(context.database.db, { now })
  const opened = new Map<string, Promise<Connector>>()
  const ending = new AbortController()
  const onError = (error: unknown) =>
    moduleLog(log, 'schedules').warn(
      { problem: describeError(error) },
      'the scheduler met an error and continues',
    )

  function connectorOf(name: string): Promise<Connector> {
    const shared = context.connectors.get(name)
    if (shared) return Promise.resolve(shared)
    const own = opened.get(name) ?? openConnector(config, name, engine)
    opened.set(name, own)
    return own
  }

  const entities = new Map<string, string[]>()
  try {
    for (const schedule of config.schedules)
      entities.set(schedule.name, await checkedEntities(context, schedule, connectorOf))
  } catch (error) {
    await closeAll(opened)
    throw error
  }
  await ledger.register([...entities.keys()])
  await ledger.dropUnknown([...entities.keys()])
  const queue = createScheduleQueue(engine.redis.redis, {
    prefix: config.redisPrefix,
    onError,
    telemetry: engine.queueTelemetry,
  })
  await queue.setSchedulers(config.schedules)
  const advance = createAdvance({
    ...context.planning,
    onReady: (group) => void engine.queues.addWriteBack(group).catch(onError),
    onWanted: () => {},
  })

  async function lookAt(schedules: readonly Schedule[]): Promise<void> {
    const states = await ledger.states()
    for (const schedule of schedules) {
      const state = states.get(schedule.name)
      const due = state && dueTime(schedule, state, now())
      if (due)
        await ledger.handle(
          schedule.name,
          due,
          plannedOccurrences(schedule, due, entities.get(schedule.name) ?? [], now()),
        )
    }
    for (const { schedule, entity, state, reason } of await ledger.closeWindows())
      moduleLog(log, 'schedules').warn(
        { schedule, entity, state, reason },
        'the window of a schedule has ended',
      )
    await queue.offer(await ledger.claimable())
  }

  async function look(): Promise<void> {
    if ((await queue.count()) !== config.schedules.length) await queue.setSchedulers(config.schedules)
    await lookAt(config.schedules)
  }

  const worker = queue.work({
    onDue: (name) => lookAt(config.schedules.filter((schedule) => schedule.name === name)),
    onOccurrence: (id) =>
      runOccurrence(
        context,
        { ledger, connectorOf, advance, holder: randomUUID(), signal: ending.signal, leaseMs, retryMs },
        id,
      ),
  })
  const loop = startPollLoop({ name: 'start what is planned', work: look, pauseMs: everyMs, onError })

  return {
    look,
    async stop(graceMs) {
      ending.abort()
      await loop.stop()
      await worker.close(graceMs)
      await queue.close()
      await closeAll(opened)
    },
  }
}

async function checkedEntities(
  { config }: Context,
  schedule: Schedule,
  connectorOf: (name: string) => Promise<Connector>,
): Promise<string[]> {
  const { name, connector, object, recipe, list, signals, signalsReport, champions } = schedule
  try {
    if (signalsReport !== undefined) return [assertReported(config, schedule)]
    if (signals !== undefined) return [await assertWatched(config, signals, connectorOf)]
    if (champions !== undefined) return [await assertChampions(config, champions, connectorOf)]
    const source = await connectorOf(connector)
    if (list !== undefined) return [assertListed(config, source, list)]
    const entities = entitiesOf(source, object)
    for (const entity of entities) config.recipes(source.entities[entity]!, recipe ?? config.defaultRecipe)
    return entities
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.code, `schedules.${name}: ${error.message}`, { cause: error })
  }
}

async function closeAll(opened: Map<string, Promise<Connector>>): Promise<void> {
  for (const connector of opened.values()) await connector.then((it) => it.close()).catch(() => {})
}
