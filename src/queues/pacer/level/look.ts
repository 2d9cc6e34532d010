/** The look under way and the count of those before (`looks.ts`). */
export interface Looks {
  /** Requests served since the level was known, or since the last look. */
  oks: number
  /** Looks that the level has survived. */
  survived: number
  /** The rate before the look that is under way; 0: none is. */
  from: number
  sinceMs: number
  endedMs: number
  served: number
}

export const noLooks: Looks = { oks: 0, survived: 0, from: 0, sinceMs: 0, endedMs: 0, served: 0 }
