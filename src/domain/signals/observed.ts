import type { FieldChange, FieldValue, Patch } from '../record.ts'
import { utcDay } from './change.ts'
import { reachDays } from './due.ts'
import { timeOf, type SeenSignal } from './score.ts'
import type { SignalType } from './signal.ts'

/** The place of a company on the ladder by its last check of expansions. Null and an empty list: nowhere. */
export interface ObservedPosition {
  stage: string | null
  direction: string | null
  markets: readonly string[]
}

/** The last check of a type that was answered. */
export interface AnsweredCheck {
  checkedAt: Date
  /** False: the service does not know the company, and nothing is said of it. */
  isMatched: boolean
}

export interface ObservedState {
  position: ObservedPosition
  /** All that are kept of the account. */
  signals: readonly SeenSignal[]
  /** By type; absent for a type that was never answered. */
  checks: Readonly<Partial<Record<SignalType, AnsweredCheck>>>
  /** The account was watched since this time. Absent: since now. */
  watchedSince?: Date | undefined
  /** The score of now, its change in a week, null where that is not known, and its strongest parts. Absent: not computed. */
  score?: { score: number; change7d: number | null; reason: string | null } | undefined
}

export interface ObservedBy {
  /** The types that the pipeline watches. */
  types: readonly SignalType[]
  /** The days after which a type is due again. */
  days: Readonly<Record<SignalType, number>>
  at: Date
}

const dayMs = 86_400_000
const jobWindowMs = 30 * dayMs

/**
 * Returns what an account's observations mean for its fields at a time. Pure.
 *
 * Zero is a value: of a company that the service knows, no open jobs are 0, an ended campaign is no, and a list without entries is
 * cleared. Of a company that it does not know, and of a type that was never answered, nothing is said. This departs from "nothing
 * found never writes" for counts that were observed, and for nothing else (docs/decisions/0037-signals.md). A figure that was known
 * and is not any more, as a change over days in which nothing was asked, is cleared.
 */
export function observedPatch(state: ObservedState, { types, days, at }: ObservedBy): Patch {
  const { position, checks, signals } = state
  const isMatched = (type: SignalType) => types.includes(type) && checks[type]?.isMatched === true
  const going = (type: SignalType) => signals.filter((signal) => signal.type === type && goesOn(signal, at))
  const patch: Patch = {}
  if (isMatched('expansion')) {
    patch['expansion_stage'] = setOrClear(position.stage)
    patch['expansion_direction'] = setOrClear(position.direction)
    patch['expansion_markets'] = setOrClear(joined(position.markets))
  }
  if (isMatched('job')) {
    const open = openJobs(state, at)
    patch['open_jobs'] = { set: open }
    patch['open_jobs_change_30d'] = setOrClear(jobsChange(state, open, at))
  }
  if (isMatched('news')) Object.assign(patch, newsFields(state))
  if (isMatched('advertisement')) patch['advertising'] = { set: going('advertisement').length > 0 }
  if (isMatched('cloud'))
    patch['cloud_providers'] = setOrClear(
      joined(going('cloud').flatMap(({ about }) => about['provider'] ?? [])),
    )
  if (!types.some(isMatched)) return patch
  if (state.score) {
    patch['signal_score'] = { set: state.score.score }
    patch['signal_score_change_7d'] = setOrClear(state.score.change7d)
    patch['signal_reason'] = setOrClear(state.score.reason)
  }
  const checkedAt = allCheckedAt(checks, types, days, at)
  if (checkedAt) patch['signals_checked_at'] = { set: checkedAt.toISOString() }
  return patch
}

/** Returns when the last type was answered, or undefined while a type that is due was not: the time moves for all or not at all. */
function allCheckedAt(
  checks: ObservedState['checks'],
  types: readonly SignalType[],
  days: ObservedBy['days'],
  at: Date,
): Date | undefined {
  const times = types.map((type) => checks[type]?.checkedAt)
  const isDue = types.some((type, index) => {
    const checkedAt = times[index]
    return checkedAt === undefined || checkedAt.getTime() + days[type] * dayMs <= at.getTime()
  })
  if (isDue) return undefined
  return times.reduce((last, time) => (last && time && last > time ? last : time), undefined)
}

/** Returns how many more jobs are open than 30 days before, or null where the account was not watched then. */
function jobsChange({ signals, watchedSince }: ObservedState, openNow: number, at: Date): number | null {
  const then = new Date(at.getTime() - jobWindowMs)
  if (!watchedSince || watchedSince > then) return null
  return openNow - openJobs({ signals }, then)
}

/**
 * Returns the jobs that were open at a time. Whole questions reach back so many days and no further: whether an older one is still open
 * nobody asks, so it counts no more.
 */
function openJobs({ signals }: Pick<ObservedState, 'signals'>, at: Date): number {
  const from = new Date(at.getTime() - (reachDays.job ?? 0) * dayMs)
  return signals.filter((signal) => signal.type === 'job' && goesOn(signal, at) && timeOf(signal) >= from)
    .length
}

/** Returns whether a signal had begun at a time, by the day that was told or else by that on which it was seen first, and had not ended. */
function goesOn(signal: SeenSignal, at: Date): boolean {
  return timeOf(signal) <= at && (signal.endedAt === null || signal.endedAt > at)
}

/** The day of news is one that was told: a day on which it was seen first is never passed off as one. */
function newsFields({ signals }: ObservedState): Patch {
  const news = signals.filter(({ type }) => type === 'news')
  const told = news.filter(({ happenedAt }) => happenedAt !== null)
  const newest = latest(told, ({ happenedAt }) => happenedAt as Date)
  const shown = newest ?? latest(news, ({ firstSeenAt }) => firstSeenAt)
  return {
    last_news_at: setOrClear(newest?.happenedAt ? utcDay(newest.happenedAt) : null),
    last_news_title: setOrClear(shown?.title ?? null),
  }
}

/** The one with the smallest key counts where two have one time, so that an order of rows decides nothing. */
function latest(all: readonly SeenSignal[], at: (each: SeenSignal) => Date): SeenSignal | undefined {
  return all.reduce<SeenSignal | undefined>((best, each) => {
    if (!best) return each
    const later = at(each).getTime() - at(best).getTime()
    return later > 0 || (later === 0 && each.key < best.key) ? each : best
  }, undefined)
}

function joined(entries: readonly string[]): string {
  return [...new Set(entries)].sort().join('; ')
}

function setOrClear(value: FieldValue | null): FieldChange {
  return value === null || value === '' ? { clear: true } : { set: value }
}
