/**
 * True for the full size of the largest tests: `PAYDIRT_TEST_FULL=1`, which `.ci/run` sets. `npm test` alone has to end in five
 * minutes on two cores, and does the same with fewer records, rows or cases.
 */
export const isFullSize = process.env['PAYDIRT_TEST_FULL'] === '1'

/** A count for the full size, and one for the short. */
export function sized(full: number, short: number): number {
  return isFullSize ? full : short
}
