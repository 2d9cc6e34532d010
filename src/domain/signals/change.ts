const dayMs = 86_400_000

/** A score as it stood on a day (UTC). There is a row for each day on which one was computed. */
export interface DayScore {
  /** `2026-11-23`. */
  day: string
  hundredths: number
  stage: string | null
}

/**
 * Returns the last score on or before the day that lies so many days before another one; undefined where none was computed by then: the
 * account is new, and a change would be a guess.
 */
export function scoreBefore(history: readonly DayScore[], day: string, days: number): DayScore | undefined {
  const limit = dayBefore(day, days)
  return latest(history.filter((each) => each.day <= limit))
}

/** Returns the change of a score within so many days, in hundredths; null where there was none before. */
export function scoreChange(
  history: readonly DayScore[],
  today: Pick<DayScore, 'day' | 'hundredths'>,
  days = 7,
): number | null {
  const before = scoreBefore(history, today.day, days)
  return before ? today.hundredths - before.hundredths : null
}

/** A change from one stage of an expansion to another, on the day on which it was first seen. */
export interface StageMove {
  day: string
  from: string
  to: string
}

/**
 * Returns the moves after a day, the earliest first. Days on which the stage was not told are passed over: a stage that is not told has
 * not changed. The first stage that is told is no move.
 */
export function stageMoves(history: readonly DayScore[], afterDay: string): StageMove[] {
  const moves: StageMove[] = []
  let last: string | undefined
  for (const { day, stage } of history.toSorted((a, b) => (a.day < b.day ? -1 : 1))) {
    if (stage === null) continue
    if (last !== undefined && last !== stage && day > afterDay) moves.push({ day, from: last, to: stage })
    last = stage
  }
  return moves
}

/** Returns the day of a time in UTC: `2026-11-23`. */
export function utcDay(at: Date): string {
  return at.toISOString().slice(0, 10)
}

/** Returns the day so many days before another one. */
export function dayBefore(day: string, days: number): string {
  return utcDay(new Date(Date.parse(day) - days * dayMs))
}

function latest(history: readonly DayScore[]): DayScore | undefined {
  return history.reduce<DayScore | undefined>(
    (best, each) => (best && best.day >= each.day ? best : each),
    undefined,
  )
}
