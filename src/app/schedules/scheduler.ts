import { randomUUID } from 'node:crypto'
import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, describeError, InputError } from '../../domain/errors.ts'
import { lastTime, nextTime, type CronTimes } from '../../queues/cron.ts'
import { createScheduleQueue } from '../../queues/schedules.ts'
import type { NewOccurrence, Occurrence } from '../../store/runs/schedule-occurrences.ts'
import { createScheduleLedger, type ScheduleState } from '../../store/runs/schedules.ts'
import { createAdvance } from '../../planning/advance.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import { isCrmName } from '../../connectors/definitions.ts'
import { openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import type { Schedule } from '../config/schedules.ts'
import { runOccurrence } from './occurrence.ts'
import { entitiesOf } from '../context/entities.ts'
import { openRun } from '../runs/sync.ts'

export interface Schedules {
  /** Looks at once for what is due, as every round does. */
  look(): Promise<void>
  stop(graceMs: number): Promise<void>
}

export interface SchedulesOptions {
  everyMs?: number
  /** A scheduler that was not heard of for so long has lost its turn. */
  leaseMs?: number
  /** Between two tries of a turn that cannot begin. */
  retryMs?: number
}

/**
 * Keeps the schedules of the config, together with every other scheduler. Throws ConfigError, naming the schedule, when
 * its connector is not set up or has no such object or recipe.
 */
export async function startSchedules(context: Context, options: SchedulesOptions = {}): Promise<Schedules> {
  const { everyMs = 5_000, leaseMs = 60_000, retryMs = 15_000 } = options
  const { config, log, now } = context
  const engine = await context.openEngine()
  const ledger = createScheduleLedger(context.database.db, { now })
  const opened = new Map<string, Promise<Connector>>()
  const ending = new AbortController()
  const onError = (error: unknown) =>
    log.warn({ problem: describeError(error) }, 'schedules met an error and go on')

  function connectorOf(name: string): Promise<Connector> {
    const shared = context.connectors.get(name)
    if (shared) return Promise.resolve(shared)
    const own = opened.get(name) ?? openConnector(config, name, engine.callBudget)
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
          turnsOf(schedule, due, entities.get(schedule.name) ?? [], now()),
        )
    }
    for (const { schedule, entity, state, reason } of await ledger.closeWindows())
      log.warn({ schedule, entity, state, reason }, 'the window of a schedule is over')
    await queue.offer(await ledger.takable())
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
  const rounds = startPollLoop({ work: look, pauseMs: everyMs, onError })

  return {
    look,
    async stop(graceMs) {
      ending.abort()
      await rounds.stop()
      await worker.close(graceMs)
      await queue.close()
      await closeAll(opened)
    },
  }
}

async function checkedEntities(
  { config }: Context,
  { name, connector, object, recipe }: Schedule,
  connectorOf: (name: string) => Promise<Connector>,
): Promise<string[]> {
  try {
    const source = await connectorOf(connector)
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

/** Of all planned times that nobody has dealt with, the last: a night that was missed is caught up once, not night by night. */
function dueTime(schedule: CronTimes, state: ScheduleState, at: Date): Date | undefined {
  return state.isPaused ? undefined : lastTime(schedule, at, state.handledUntil)
}

/** Later than this, and a planned time was not met but is caught up. */
const punctualMs = 5 * 60_000

function turnsOf(
  schedule: Schedule,
  plannedAt: Date,
  entities: readonly string[],
  at: Date,
): NewOccurrence[] {
  const { name, connector, recipe, limit, refresh, startNoLaterThan, stopAt } = schedule
  return entities.map((entity) => ({
    schedule: name,
    connector,
    entity,
    recipe: recipe ?? null,
    limit: limit ?? null,
    refresh: refresh ?? false,
    cause: at.getTime() - plannedAt.getTime() > punctualMs ? 'catch_up' : 'cron',
    plannedAt,
    startBy: timeAfter(schedule, startNoLaterThan, plannedAt),
    stopAt: timeAfter(schedule, stopAt, plannedAt),
  }))
}

/** The first time of day after the planned time, in the schedule's zone. */
function timeAfter({ timeZone }: Schedule, timeOfDay: string | undefined, plannedAt: Date): Date | null {
  if (timeOfDay === undefined) return null
  const [hour = 0, minute = 0] = timeOfDay.split(':').map(Number)
  return nextTime({ cron: `${minute} ${hour} * * *`, timeZone }, plannedAt) ?? null
}

export interface ScheduleView extends Schedule {
  isPaused: boolean
  pausedBy: string | null
  pausedAt: Date | null
  /** null while it is paused, and before a scheduler has ever seen it. */
  nextAt: Date | null
  /** The last turn of each entity, with its run's state. */
  last: (Occurrence & { runState: string | null })[]
}

/** The schedules of the config as they stand. Reads the ledger alone. */
export async function listSchedules(
  context: Pick<Context, 'config' | 'database' | 'now'>,
): Promise<ScheduleView[]> {
  const { config, database, now } = context
  const ledger = createScheduleLedger(database.db, { now })
  const [states, latest] = await Promise.all([ledger.states(), ledger.latest()])
  return config.schedules.map((schedule) => {
    const state = states.get(schedule.name)
    return {
      ...schedule,
      isPaused: state?.isPaused ?? false,
      pausedBy: state?.pausedBy ?? null,
      pausedAt: state?.pausedAt ?? null,
      nextAt: state && !state.isPaused ? (nextTime(schedule, now()) ?? null) : null,
      last: latest.filter((turn) => turn.schedule === schedule.name),
    }
  })
}

type LedgerContext = Pick<Context, 'config' | 'database' | 'now'>

/** Holds until it is resumed, over every restart. A run that is under way goes on. */
export async function pauseSchedule(context: LedgerContext, name: string, by: string): Promise<void> {
  await setPaused(context, name, true, by)
}

/** Begins anew with the next planned time: what was planned meanwhile was passed over on purpose. */
export async function resumeSchedule(context: LedgerContext, name: string): Promise<void> {
  await setPaused(context, name, false, null)
}

async function setPaused(
  context: LedgerContext,
  name: string,
  isPaused: boolean,
  by: string | null,
): Promise<void> {
  const schedule = named(context, name)
  const ledger = createScheduleLedger(context.database.db, { now: context.now })
  await ledger.register([schedule.name])
  await ledger.setPaused(schedule.name, isPaused, by)
}

/**
 * Asks the schedulers to sync what the schedule syncs as soon as they can, whatever its times and windows, paused or not.
 * Throws ConfigError `no_such_schedule`.
 */
export async function runScheduleNow(context: Context, name: string): Promise<void> {
  const schedule = named(context, name)
  const ledger = createScheduleLedger(context.database.db, { now: context.now })
  const entities = await withConnector(context, schedule.connector, async (connector) =>
    entitiesOf(connector, schedule.object),
  )
  await ledger.register([name])
  const plannedAt = context.now()
  for (const turn of turnsOf(schedule, plannedAt, entities, plannedAt))
    await ledger.addOccurrence({ ...turn, cause: 'run_now', startBy: null, stopAt: null })
}

function named({ config }: LedgerContext, name: string): Schedule {
  const schedule = config.schedules.find((each) => each.name === name)
  if (schedule) return schedule
  const known = config.schedules.map((each) => each.name).join(', ') || 'none'
  throw new ConfigError('no_such_schedule', `there is no schedule ${name}; the config has ${known}`)
}

/**
 * Begins a sync outside any schedule. Answers its run at once; a scheduler reads it within seconds, after whatever run of
 * the same connector and entity is under way, and the workers do the rest. Asked again before it is read: the same run.
 * Throws ConfigError for a connector that is not set up, InputError for an object or recipe that there is not.
 */
export async function startSync(
  context: Context,
  wanted: { connector: string; entity: string; recipe?: string },
): Promise<{ runId: string }> {
  const ledger = createScheduleLedger(context.database.db, { now: context.now })
  return withConnector(context, wanted.connector, async (connector) => {
    const [entity, ...others] = entitiesOf(connector, wanted.entity)
    if (entity === undefined || others.length > 0)
      throw new InputError(
        'ambiguous_object',
        `${wanted.entity} is more than one object of ${connector.name}`,
      )
    const open = await ledger.openRequest(connector.name, entity)
    if (open?.runId) return { runId: open.runId }
    const { recipe } = wanted
    const job = { entity, filter: [], ...(recipe === undefined ? {} : { recipe }) }
    const { run } = await openRun(context, connector, job, 'scanning', {
      trigger: 'request',
      occasion: randomUUID(),
    })
    await ledger.addOccurrence({
      schedule: null,
      connector: connector.name,
      entity,
      recipe: recipe ?? null,
      limit: null,
      refresh: false,
      cause: 'request',
      plannedAt: context.now(),
      startBy: null,
      stopAt: null,
      runId: run.id,
    })
    return { runId: run.id }
  })
}

async function withConnector<T>(
  context: Context,
  name: string,
  work: (connector: Connector) => Promise<T>,
): Promise<T> {
  const shared = context.connectors.get(name)
  if (shared) return work(shared)
  if (!isCrmName(name)) throw new InputError('no_such_connector', `there is no connector ${name}`)
  const connector = await openConnector(context.config, name, undefined)
  try {
    return await work(connector)
  } finally {
    await connector.close()
  }
}
