import { blockMs } from './token.ts'

/** A permit of the schedule that this process holds without a request for it. */
export interface Permit<Grant> {
  grant: Grant
  /** Its planned time, on the clock of this process. */
  dueMs: number
}

/** Use counts as recent for about so long. */
const recentMs = 200
/** A process that uses little takes as many as it needs in this time, up to `fewest`. */
const longestMs = 200
const fewest = 8
/** A permit is given up so long after its planned time. */
const keptMs = 100

/**
 * At a high pace a process takes permits ahead of need, so that one command to Redis serves the requests of the next few tens of
 * milliseconds. It takes no more than it used of late, so an idle process takes none, and a dead one loses one block. Permits
 * keep their planned times: none is used before its time, and one that nobody needed is lost.
 */
export function createStock<Grant>() {
  let permits: Permit<Grant>[] = []
  let use = 0
  let usedAtMs = 0

  function recentUse(nowMs: number): number {
    return use * Math.exp(-Math.max(0, nowMs - usedAtMs) / recentMs)
  }

  return {
    /** Permits to ask for beyond those of the `waiting` requests. */
    lacks(waiting: number, nowMs: number): number {
      const perMs = recentUse(nowMs) / recentMs
      const wanted = Math.max(perMs * blockMs, Math.min(fewest, perMs * longestMs))
      return Math.max(0, Math.floor(wanted) - waiting - permits.length)
    },

    put(permit: Permit<Grant>): void {
      permits.push(permit)
    },

    /** Returns the permit that is due first. */
    take(nowMs: number): Permit<Grant> | undefined {
      while (permits[0] && permits[0].dueMs + keptMs < nowMs) permits.shift()
      return permits.shift()
    },

    /** A request of this process was given a permit. */
    used(nowMs: number): void {
      use = recentUse(nowMs) + 1
      usedAtMs = nowMs
    },

    /** Gives up all: the pace is not what it was when they were taken. */
    clear(): void {
      permits = []
    },
  }
}
