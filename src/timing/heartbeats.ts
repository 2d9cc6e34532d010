/** A round that takes longer has hung: every statement, call and lease of an ordinary round has a shorter end of its own. */
const usualLongestMs = 600_000
/** Timers of a busy process fire late. */
const graceMs = 60_000

interface Beating {
  name: string
  /** The time of `performance.now()` by which it beats again, unless it hangs. */
  dueMs: number
}

/** The loops of this process. They belong to the process as its timers do, so no caller has to pass them on. */
const beating = new Set<Beating>()

export interface Heartbeat {
  /** A round begins, or goes on and shows that it does not hang. */
  work(): void
  /** The next round begins after so long. */
  rest(ms: number): void
  end(): void
}

/** Starts the heartbeat of a loop, whose rounds take `longestMs` at most. */
export function startHeartbeat(name: string, longestMs = usualLongestMs): Heartbeat {
  const loop: Beating = { name, dueMs: performance.now() + longestMs }
  beating.add(loop)
  return {
    work: () => void (loop.dueMs = performance.now() + longestMs),
    rest: (ms) => void (loop.dueMs = performance.now() + ms + graceMs),
    end: () => void beating.delete(loop),
  }
}

/** Returns the names of the loops that hang at `nowMs` of `performance.now()`. */
export function hangingLoops(nowMs: number): string[] {
  return [...beating].filter(({ dueMs }) => dueMs < nowMs).map(({ name }) => name)
}

export function countLoops(): number {
  return beating.size
}
