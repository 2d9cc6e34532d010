const shedReasons = ['database', 'redis', 'presses'] as const
export type ShedReason = (typeof shedReasons)[number]

export interface LoadShed {
  /** Measures everything once. Never throws: what fails counts as slow while it takes, and says nothing when it is over. */
  measure(): Promise<void>
  /** Returns why background callers are refused now; undefined while they are not. */
  reason(): ShedReason | undefined
}

/** Shed until everything is below this share of its bound, for the whole hold, so that the answer does not flap. */
const endShare = 0.5
/** The weight of the newest measurement in the moving estimate. */
const weight = 0.4

/**
 * Estimates how slow the stores are and how long presses wait. A measurement that has not ended counts with its age, so that
 * a database that hangs is seen before it answers.
 */
export function createLoadShed(options: {
  /** Milliseconds; 0: this one never sheds. */
  bounds: Record<ShedReason, number>
  /** Answers in milliseconds what is to be compared with its bound, or undefined for the time that the answer took. */
  probes: Record<ShedReason, () => Promise<number | undefined>>
  holdMs: number
  nowMs: () => number
  onChange?: ((change: { reason: ShedReason; isShedding: boolean; ms: number }) => void) | undefined
}): LoadShed {
  const { bounds, probes, holdMs, nowMs } = options
  const states = new Map(
    shedReasons.map((reason) => [
      reason,
      { estimateMs: 0, startedMs: undefined as number | undefined, isShedding: false, calmSinceMs: 0 },
    ]),
  )

  async function measureOne(reason: ShedReason): Promise<void> {
    const state = states.get(reason)!
    // The one before hangs: its age counts, and another would wait behind it.
    if (bounds[reason] === 0 || state.startedMs !== undefined) return
    const startedMs = nowMs()
    state.startedMs = startedMs
    try {
      const measured = await probes[reason]()
      // An age is the truth at once; a duration varies, and moves the estimate.
      if (measured !== undefined) state.estimateMs = measured
      else state.estimateMs += weight * (nowMs() - startedMs - state.estimateMs)
    } catch {
      // Readiness reports a store that is away.
    } finally {
      state.startedMs = undefined
    }
  }

  function update(reason: ShedReason): boolean {
    const state = states.get(reason)!
    const now = nowMs()
    const pendingMs = state.startedMs === undefined ? 0 : now - state.startedMs
    const ms = Math.max(state.estimateMs, pendingMs)
    const bound = bounds[reason]
    const was = state.isShedding
    if (bound > 0 && ms > bound) state.isShedding = true
    if (ms > bound * endShare) state.calmSinceMs = now
    else if (now - state.calmSinceMs >= holdMs) state.isShedding = false
    if (was !== state.isShedding)
      options.onChange?.({ reason, isShedding: state.isShedding, ms: Math.round(ms) })
    return state.isShedding
  }

  return {
    async measure() {
      await Promise.all(shedReasons.map(measureOne))
      shedReasons.forEach(update)
    },
    reason: () => shedReasons.filter(update)[0],
  }
}
