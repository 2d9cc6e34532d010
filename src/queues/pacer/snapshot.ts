import { countBetween } from './history.ts'
import { type Learner, type Phase } from './learner.ts'
import { pulsesOf } from './penalty/pulses.ts'
import { paceOf } from './state.ts'

/** The pacer's figures as the desk shows them. */
export interface PacerSnapshot {
  phase: Phase
  /** Requests per second at which grants are issued now. */
  perSecond: number
  /**
   * Requests per second that were served over the last ten seconds. Its share of `perSecond` is the use of the pace.
   */
  servedPerSecond: number
  /** Learned limits in requests per window; `confirmed` once a refusal has met the limit. */
  windows: { lengthMs: number; limit: number; confirmed: boolean }[]
  /** Requests that the service serves at a time, where refusals have shown such a limit; the rate is then free to rise. */
  atOnce?: number
  /** Milliseconds until the next grant is possible; 0 when open. */
  closedForMs: number
  totals: { ok: number; limited: number }
  /** Share of 429 responses over roughly the last ten minutes, 0 to 1. */
  limitedShare: number
}

export function snapshotOf(learner: Learner, nowMs: number): PacerSnapshot {
  const pace = paceOf(learner, nowMs)
  const { ok, limited } = learner.recent
  return {
    phase: learner.phase,
    perSecond: pulsesOf(learner) && !learner.block ? learner.rate : 1000 / pace.intervalMs,
    servedPerSecond: countBetween(learner.history, nowMs - 10_000, nowMs) / 10,
    windows: learner.windows.map(({ lengthMs, limit, confirmed }) => ({ lengthMs, limit, confirmed })),
    ...(learner.flight.limit > 0 && { atOnce: learner.flight.limit }),
    closedForMs: Math.max(0, Math.ceil(pace.notBeforeMs - nowMs)),
    totals: learner.totals,
    limitedShare: ok + limited === 0 ? 0 : limited / (ok + limited),
  }
}
