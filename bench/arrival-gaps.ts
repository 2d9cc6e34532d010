import { quantile, round } from './table.ts'

export interface ArrivalGaps {
  /** Percent of the gaps that are shorter than half of the interval. */
  shortPercent: number
  /** 95 of 100 gaps are no further from the interval than this. */
  offMsP95: number
}

/** Compares the gaps between requests with the interval of an even spacing. Times in milliseconds, in any order. */
export function arrivalGaps(timesMs: readonly number[], perSecond: number): ArrivalGaps {
  const sorted = timesMs.toSorted((a, b) => a - b)
  const gaps = sorted.slice(1).map((atMs, index) => atMs - (sorted[index] as number))
  const intervalMs = 1_000 / perSecond
  const tooShort = gaps.filter((gapMs) => gapMs < intervalMs / 2).length
  return {
    shortPercent: round((100 * tooShort) / Math.max(1, gaps.length), 2),
    offMsP95: round(
      quantile(
        gaps.map((gapMs) => Math.abs(gapMs - intervalMs)),
        0.95,
      ),
    ),
  }
}
