import { lastTime, nextTime, type CronTimes } from '../../queues/cron.ts'
import type { NewOccurrence } from '../../store/runs/schedule-occurrences.ts'
import type { ScheduleState } from '../../store/runs/schedules.ts'
import type { Schedule } from '../config/schedules.ts'

/** An occurrence that is claimed later than this after its planned time counts as a catch-up. */
const punctualMs = 5 * 60_000
const usualPeriod = '7d'

/**
 * Returns the last planned time that no scheduler has handled. A schedule that was missed for several nights is caught up
 * once, not night by night.
 */
export function dueTime(schedule: CronTimes, state: ScheduleState, at: Date): Date | undefined {
  return state.isPaused ? undefined : lastTime(schedule, at, state.handledUntil)
}

/** Returns the occurrences of a planned time, one for each entity that the schedule syncs. */
export function plannedOccurrences(
  schedule: Schedule,
  plannedAt: Date,
  entities: readonly string[],
  at: Date,
): NewOccurrence[] {
  const { name, connector, limit, refresh, startNoLaterThan, stopAt } = schedule
  const {
    list,
    budgetUsd = '0',
    reachableOnly = false,
    signals,
    signalsReport,
    champions,
    since = usualPeriod,
  } = schedule
  // Older processes know no such recipe, so that none of them syncs the object in place of the list, pipeline or champions.
  const kind = { list, signals, champions }
  const own = (['list', 'signals', 'champions'] as const).find((key) => kind[key] !== undefined)
  return entities.map((entity) => ({
    schedule: name,
    connector,
    entity,
    recipe: own ?? schedule.recipe ?? null,
    limit: limit ?? null,
    refresh: refresh ?? false,
    list: list === undefined ? undefined : { name: list, budgetUsd, reachableOnly },
    signals: signals === undefined ? undefined : { pipeline: signals, budgetUsd },
    champions: champions === undefined ? undefined : { watch: champions, budgetUsd },
    report: signalsReport === undefined ? undefined : { pipeline: signalsReport, since },
    cause: at.getTime() - plannedAt.getTime() > punctualMs ? 'catch_up' : 'cron',
    plannedAt,
    startBy: timeAfter(schedule, startNoLaterThan, plannedAt),
    stopAt: timeAfter(schedule, stopAt, plannedAt),
  }))
}

/** Returns the first such time of day after the planned time, in the schedule's zone. */
function timeAfter({ timeZone }: Schedule, timeOfDay: string | undefined, plannedAt: Date): Date | null {
  if (timeOfDay === undefined) return null
  const [hour = 0, minute = 0] = timeOfDay.split(':').map(Number)
  return nextTime({ cron: `${minute} ${hour} * * *`, timeZone }, plannedAt) ?? null
}
