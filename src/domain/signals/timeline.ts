import { stageMoves, type DayScore } from './change.ts'
import { timeOf, type SeenSignal } from './score.ts'

/** Something in the history of an account. A stage is known by the day (UTC) on which it was first seen. */
export type TimelineEvent =
  | { kind: 'signal' | 'ended'; at: Date; signal: SeenSignal }
  | { kind: 'stage'; at: Date; from: string; to: string }

/**
 * Returns the history of an account, the latest first: each signal when it happened, or else was seen first, and once more when it ended;
 * and the moves from stage to stage. Pipelines that watch the same account see the same moves: each is there once.
 */
export function timelineOf(
  signals: readonly SeenSignal[],
  histories: readonly (readonly DayScore[])[],
): TimelineEvent[] {
  const moves = new Map(
    histories
      .flatMap((history) => stageMoves(history, ''))
      .map(({ day, from, to }) => [
        `${day} ${from} ${to}`,
        { kind: 'stage' as const, at: new Date(day), from, to },
      ]),
  )
  const seen = signals.flatMap((signal): TimelineEvent[] => [
    { kind: 'signal', at: timeOf(signal), signal },
    ...(signal.endedAt === null ? [] : [{ kind: 'ended' as const, at: signal.endedAt, signal }]),
  ])
  // Sorting keeps the order of equal times: the end of a signal stands above its beginning.
  return [...seen.toReversed(), ...moves.values()].toSorted((a, b) => b.at.getTime() - a.at.getTime())
}
