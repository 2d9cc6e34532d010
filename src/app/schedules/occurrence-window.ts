import type { Context } from '../context/context.ts'

/** A timer of Node takes no more. */
const longestTimerMs = 2 ** 31 - 1

interface Window {
  /** Fires when the window ends, and with any of the others. */
  signal: AbortSignal
  /** True once the window itself has ended. */
  hasEnded(): boolean
}

/** Returns the window of an occurrence: until `stopAt`, and no longer than the others let it go on. */
export function windowOf(
  { now }: Pick<Context, 'now'>,
  stopAt: Date | null,
  others: readonly AbortSignal[],
): Window {
  const leftMs = stopAt === null ? undefined : stopAt.getTime() - now().getTime()
  const atStop =
    leftMs === undefined ? undefined : AbortSignal.timeout(Math.min(Math.max(0, leftMs), longestTimerMs))
  return {
    signal: AbortSignal.any([...others, ...(atStop ? [atStop] : [])]),
    hasEnded: () => atStop?.aborted === true,
  }
}
