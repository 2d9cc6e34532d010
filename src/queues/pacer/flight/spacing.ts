/**
 * Requests of the background leave a process as far from each other as their permits are, while no limit on requests under way is
 * known: they get their permits evenly, and what is done before they are sent is done in groups. A pause after a refusal holds them.
 */

/**
 * Requests of a group leave in the intervals of their permits: faster, they would be more than a window allows. Where the line has become
 * long, they leave at this share of it, or every group to come would wait as long.
 */
const apartPart = 0.95
const longLineMs = 120
/** A timer that was late is made up for, by at most this share of it. */
const latePart = 0.35
/** Nothing waits longer for that: an outage of the database makes many ready at once, and their proofs grow old. */
const longestApartMs = 300
/** A pause holds no longer what stands ready: its proof grows old. The trials of a first block are up to half a second apart. */
const longestHeldMs = 700
/** A refusal stops what stands ready for so long, until the learner has told how long the pause is. */
const firstPauseMs = 60
/** At a slower pace hardly more than one request is being prepared, and none of them is held for a pause. */
const coarseMs = 100
/**
 * Requests whose permits are closer are not held apart: timers are as coarse as a fifth of that, and the wait for
 * it would need more lookups at a time than a worker has.
 */
const finestMs = 8
/** The pace that began a block was too fast. What the block has held leaves at a third of it. */
const slower = 3

export function createSpacing(now: () => number) {
  let lastLeftMs = 0
  /** 0: so close to each other that they need not be apart. */
  let permitsMs = 0
  /** The next request of the background leaves no sooner. */
  let nextLeavesMs = -Infinity
  /** That is so many intervals, and so long, after the last one. */
  let apartTimes = 1
  let apartMs = 0
  /** The service has just refused a request, and would refuse these. */
  let pausedUntilMs = -Infinity
  /** The pause is a block, whose end is found by trials. */
  let isBlock = false

  function intervalsAfter(readyMs: number): number {
    if (isBlock && readyMs < pausedUntilMs) return slower
    return now() - readyMs > longLineMs ? apartPart : 1
  }

  function intervalsMs(): number {
    return apartTimes * (apartTimes === slower ? Math.max(finestMs, permitsMs) : permitsMs)
  }

  /** Permits are closer to each other than when the last request left: the next one is not to wait for the interval of that time. */
  function leaveSooner(): boolean {
    const shorterMs = apartMs - intervalsMs()
    if (shorterMs <= 0) return false
    apartMs -= shorterMs
    const leastMs = lastLeftMs + (1 - latePart) * apartMs
    nextLeavesMs = Math.max(nextLeavesMs - shorterMs, Math.min(nextLeavesMs, Math.max(now(), leastMs)))
    return true
  }

  function pauseUntil(ms: number): void {
    if (now() >= pausedUntilMs) isBlock = false
    pausedUntilMs = ms
  }

  return {
    /** Milliseconds until a request that is ready since then may leave; none or less: at once. */
    leavesInMs(readyMs: number): number {
      const isHeld = readyMs < pausedUntilMs && (isBlock || (permitsMs > 0 && permitsMs < coarseMs))
      const dueMs = isHeld ? Math.max(nextLeavesMs, pausedUntilMs) : nextLeavesMs
      return Math.min(dueMs, readyMs + (isHeld ? longestHeldMs : longestApartMs)) - now()
    },

    /** A request that was ready since then leaves now. */
    left(readyMs: number): void {
      lastLeftMs = now()
      const dueMs = Math.max(nextLeavesMs, pausedUntilMs)
      const lateMs = Math.max(0, Math.min(lastLeftMs - dueMs, latePart * permitsMs))
      apartTimes = intervalsAfter(readyMs)
      apartMs = intervalsMs()
      nextLeavesMs = lastLeftMs - (lastLeftMs > readyMs ? lateMs : 0) + apartMs
    },

    /**
     * Permits are given in these intervals now. In a pause these are those of trials, which say nothing of the requests that have
     * their permits already. Trials are never as close as what follows the pause may be. Returns true when the next may leave sooner.
     */
    paced(intervalMs: number): boolean {
      const follows = permitsMs >= coarseMs && intervalMs < coarseMs && intervalMs >= finestMs
      if (now() >= pausedUntilMs || follows) permitsMs = intervalMs < finestMs ? 0 : intervalMs
      else if (intervalMs >= coarseMs && permitsMs < coarseMs) isBlock = true
      return leaveSooner()
    },

    /** Requests that have their permits already wait as the next permits do. Returns true when the next may leave sooner. */
    pause(untilMs: number): boolean {
      const isShorter = untilMs < pausedUntilMs
      pauseUntil(isShorter ? Math.max(untilMs, Math.min(now(), pausedUntilMs)) : untilMs)
      return isShorter
    },

    refused(): void {
      if (now() + firstPauseMs > pausedUntilMs) pauseUntil(now() + firstPauseMs)
    },
  }
}
