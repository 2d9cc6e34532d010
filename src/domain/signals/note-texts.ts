import { typeNames } from './reason.ts'
import { utcDay } from './change.ts'
import type { SeenSignal } from './score.ts'

const dayMs = 86_400_000
/** A thing that happened longer ago is no news, also where it was seen only now. */
const newForDays = 30
const mostLines = 20
const mostLinks = 10

/**
 * Returns the number of the period in which a time lies: all times of one period have one note. Periods of seven days begin on Mondays
 * (UTC).
 */
export function periodOf(at: Date, everyDays: number): number {
  // The first day of the epoch was a Thursday.
  return Math.floor((Math.floor(at.getTime() / dayMs) + 3) / everyDays)
}

/** Returns the signals to tell of, the latest first: those seen since the last note, without what has ended or happened long ago. */
export function newSignals<T extends SeenSignal>(
  signals: readonly T[],
  { since, at }: { since: Date | undefined; at: Date },
): T[] {
  const oldest = at.getTime() - newForDays * dayMs
  return signals
    .filter(
      ({ firstSeenAt, happenedAt, endedAt }) =>
        endedAt === null &&
        firstSeenAt <= at &&
        (since === undefined || firstSeenAt > since) &&
        (happenedAt ?? firstSeenAt).getTime() >= oldest,
    )
    .toSorted((a, b) => timeOf(b) - timeOf(a) || (a.key < b.key ? -1 : 1))
}

/** Returns the lines of signals, each with its day: one that was only seen is never passed off as one that happened then. */
export function signalLines(signals: readonly SeenSignal[]): string[] {
  const lines = signals.slice(0, mostLines).map(({ type, title, place, happenedAt, firstSeenAt }) => {
    const when = happenedAt ? utcDay(happenedAt) : `seen first ${utcDay(firstSeenAt)}`
    return `${when}  ${typeNames[type]}: ${title ?? 'no title told'}${place === null ? '' : ` (${place})`}`
  })
  const more = signals.length - mostLines
  return more > 0 ? [...lines, `and ${more} more`] : lines
}

export function signalLinks(signals: readonly SeenSignal[]): { title: string; url: string }[] {
  return signals
    .flatMap(({ title, type, link }) =>
      link === null ? [] : [{ title: title ?? typeNames[type], url: link }],
    )
    .slice(0, mostLinks)
}

/** A rule of a task: everything that it names must be reached. */
export interface TaskRule {
  scoreAtLeast?: number | undefined
  changeAtLeast?: number | undefined
}

/**
 * Returns whether the rule of a task is met, and the last task for it does not stand for it still: one of the same score comes again only
 * when the score was below the rule in between, and none within a period of the last.
 */
export function isTaskDue(
  { scoreAtLeast, changeAtLeast }: TaskRule,
  now: { hundredths: number; change: number | null; at: Date },
  last: { at: Date; lowestSince: number } | undefined,
  everyDays: number,
): boolean {
  if (scoreAtLeast !== undefined && now.hundredths < scoreAtLeast * 100) return false
  if (changeAtLeast !== undefined && (now.change === null || now.change < changeAtLeast * 100)) return false
  if (last === undefined) return true
  if (now.at.getTime() - last.at.getTime() < everyDays * dayMs) return false
  return scoreAtLeast === undefined || last.lowestSince < scoreAtLeast * 100
}

function timeOf({ happenedAt, firstSeenAt }: SeenSignal): number {
  return (happenedAt ?? firstSeenAt).getTime()
}
