import { ConfigError } from '../../domain/errors.ts'
import { pipelineEntity } from '../../domain/signals/scheduled-report.ts'
import { nextTimes } from '../../queues/cron.ts'
import type { Occurrence } from '../../store/runs/schedule-occurrences.ts'
import { createScheduleLedger } from '../../store/runs/schedules.ts'
import { ledgerSource, type Schedule } from '../config/schedules.ts'
import { withConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { entitiesOf } from '../context/entities.ts'
import { listNamed } from '../lists/pages/list-calls.ts'
import { runRefusals } from '../lists/running/run-list.ts'
import { priceRefusal } from '../runs/price-refusal.ts'
import { judgedRun } from '../runs/sync.ts'
import { assertListed } from './list-occurrence.ts'
import { assertChampions, assertWatched } from './watch-occurrence.ts'
import { assertReported } from './report-occurrence.ts'
import { plannedOccurrences } from './planned-occurrences.ts'

export interface ScheduleView extends Schedule {
  isPaused: boolean
  pausedBy: string | null
  pausedAt: Date | null
  /** null while it is paused, and before a scheduler has seen it. */
  nextAt: Date | null
  /** The next five times; none where there is no next one. */
  next: Date[]
  /** The last occurrence of each entity, with its run's state. */
  last: (Occurrence & { runState: string | null })[]
}

/** Returns the schedules of the configuration with their current states. Reads the ledger alone. */
export async function listSchedules(
  context: Pick<Context, 'config' | 'database' | 'now'>,
): Promise<ScheduleView[]> {
  const { config, database, now } = context
  const ledger = createScheduleLedger(database.db, { now })
  const [states, latest] = await Promise.all([ledger.states(), ledger.latest()])
  return config.schedules.map((schedule) => {
    const state = states.get(schedule.name)
    const next = state && !state.isPaused ? nextTimes(schedule, now(), timesShown) : []
    return {
      ...schedule,
      isPaused: state?.isPaused ?? false,
      pausedBy: state?.pausedBy ?? null,
      pausedAt: state?.pausedAt ?? null,
      nextAt: next[0] ?? null,
      next,
      last: latest.filter((occurrence) => occurrence.schedule === schedule.name),
    }
  })
}

/** So many coming times are listed. */
const timesShown = 5

type LedgerContext = Pick<Context, 'config' | 'database' | 'now'>

/** Pauses a schedule until it is resumed, also across restarts. An active run continues. */
export async function pauseSchedule(context: LedgerContext, name: string, by: string): Promise<void> {
  await setPaused(context, name, true, by)
}

/** Resumes a schedule at its next planned time. Times that passed during the pause are not caught up. */
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
 * Asks the schedulers for an occurrence now, outside the schedule's times and windows, also while it is paused. Returns how
 * many entities it is for; 0 when all of them have one that has not been scanned yet. Throws ConfigError `no_such_schedule`,
 * `above_cap` when its run would fail by its prices, and what a run of its list would be refused for.
 */
export async function runScheduleNow(context: Context, name: string): Promise<number> {
  const schedule = named(context, name)
  const ledger = createScheduleLedger(context.database.db, { now: context.now })
  const entities = await assertedEntities(context, schedule)
  await ledger.register([name])
  const plannedAt = context.now()
  let added = 0
  for (const occurrence of plannedOccurrences(schedule, plannedAt, entities, plannedAt)) {
    const asked = { ...occurrence, schedule: name, cause: 'run_now', startBy: null, stopAt: null } as const
    if (await ledger.addNow(asked)) added += 1
  }
  return added
}

/** Returns the entities of a schedule. Throws ConfigError for what would be refused of them. */
async function assertedEntities(context: Context, schedule: Schedule): Promise<string[]> {
  const { config } = context
  if (schedule.signalsReport !== undefined) return [assertReported(config, schedule)]
  if (schedule.connector === ledgerSource) return [pipelineEntity]
  return withConnector(context, schedule.connector, async (connector) => {
    if (schedule.list !== undefined) {
      const settings = listNamed(context.config, schedule.list)
      const [refusal] = await runRefusals(context, { name: schedule.list, settings }, connector)
      if (refusal) throw refusal
      return [assertListed(context.config, connector, schedule.list)]
    }
    if (schedule.signals !== undefined)
      return [await assertWatched(config, schedule.signals, async () => connector)]
    if (schedule.champions !== undefined)
      return [await assertChampions(config, schedule.champions, async () => connector)]
    const named = entitiesOf(connector, schedule.object)
    for (const entity of named) {
      const job = { entity, recipe: schedule.recipe, refresh: schedule.refresh, filter: [] }
      const refused = await priceRefusal(context, connector, judgedRun(context, connector, job))
      if (refused) throw refused
    }
    return named
  })
}

function named({ config }: LedgerContext, name: string): Schedule {
  const schedule = config.schedules.find((each) => each.name === name)
  if (schedule) return schedule
  const known = config.schedules.map((each) => each.name).join(', ') || 'none'
  throw new ConfigError('no_such_schedule', `there is no schedule ${name}; the config has ${known}`)
}
