import { countBetween } from './history.ts'
import { type Learner, type Phase } from './learner.ts'
import { paceOf } from './state.ts'

/** What the desk shows of a pacer. */
export interface PacerSnapshot {
  phase: Phase
  /** Requests a second at which grants go out now. */
  perSecond: number
  /** Requests a second that were served over the last ten seconds; its share of `perSecond` is the use of the pace. */
  servedPerSecond: number
  /** Learned limits in requests a window; `confirmed` once met by a refusal. */
  windows: { lengthMs: number; limit: number; confirmed: boolean }[]
  /** Milliseconds until the next grant is possible; 0 when open. */
  closedForMs: number
  totals: { ok: number; limited: number }
  /** Share of 429 over the last ten minutes or so, 0 to 1. */
  limitedShare: number
}

export function snapshotOf(learner: Learner, nowMs: number): PacerSnapshot {
  const pace = paceOf(learner, nowMs)
  const { ok, limited } = learner.recent
  return {
    phase: learner.phase,
    perSecond: 1000 / pace.intervalMs,
    servedPerSecond: countBetween(learner.history, nowMs - 10_000, nowMs) / 10,
    windows: learner.windows.map(({ lengthMs, limit, confirmed }) => ({ lengthMs, limit, confirmed })),
    closedForMs: Math.max(0, Math.ceil(pace.notBeforeMs - nowMs)),
    totals: learner.totals,
    limitedShare: ok + limited === 0 ? 0 : limited / (ok + limited),
  }
}
