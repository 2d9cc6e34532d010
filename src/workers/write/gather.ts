/** The ready records of one connector and entity that no person waits for. */
export interface Gathered {
  count: number
  /** The time the oldest of them has been ready. */
  oldestMs: number
  /** Further records are being read or looked up. */
  moreToCome: boolean
}

export interface GatherLimits {
  /** Records that one request writes. Absent: a source that is not written by requests, for which nothing is gathered. */
  perRequest: number | undefined
  /** The most records of one write. */
  most: number
  /** The longest that a record waits for others. */
  gatherMs: number
}

/** The number of records to write now; the others wait this long. */
export interface Due {
  count: number
  waitMs?: number
}

/**
 * Decides how many ready records to write now. A record waits for others while there are others to come, so that requests
 * are full: a CRM counts its requests, and one for four records costs as much as one for two hundred.
 *
 * Crash window: a gathered record is a ready task in SQL, with its patch, and nothing was sent. A process that dies here
 * loses the wait and nothing else: the sweep of the next one finds the task, and it is as old as it was.
 */
export function dueNow({ count, oldestMs, moreToCome }: Gathered, limits: GatherLimits): Due {
  const { perRequest, most, gatherMs } = limits
  if (perRequest === undefined || !moreToCome || count >= most) return { count: Math.min(count, most) }
  if (oldestMs < gatherMs) return { count: 0, waitMs: gatherMs - oldestMs }
  // Records that would not fill a request wait for the next ones.
  const full = Math.floor(count / perRequest) * perRequest
  return full === 0 || full === count ? { count } : { count: full, waitMs: gatherMs }
}
