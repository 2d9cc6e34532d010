import type { Atomic } from '../money.ts'

/** A window of a budget, the wallet or the kill switch, with what it still lets through. */
export interface Limit {
  name: 'run' | 'day' | 'month' | 'connector' | 'wallet' | 'stopped'
  /** Undefined where there is no cap. */
  capAtomic: Atomic | undefined
  usedAtomic: Atomic
  /** Undefined where there is no cap. */
  leftAtomic: Atomic | undefined
}

export interface Amounts {
  lowAtomic: Atomic
  expectedAtomic: Atomic
  highAtomic: Atomic
}

export interface Limited extends Amounts {
  /** The limits below the highest amount, the tightest first. */
  stoppedBy: Limit['name'][]
}

/**
 * Returns what a run spends until it ends or is parked. A lookup that does not fit into what is left is not bought, and the
 * cheaper ones may be: so a run that is stopped has spent more than what is left less the dearest price.
 */
export function withinLimits(wanted: Amounts, limits: readonly Limit[], prices: readonly Atomic[]): Limited {
  const capped = limits
    .flatMap(({ name, leftAtomic }) =>
      leftAtomic === undefined ? [] : [{ name, left: leftAtomic > 0n ? leftAtomic : 0n }],
    )
    .filter(({ left }) => left < wanted.highAtomic)
    .sort((a, b) => (a.left < b.left ? -1 : 1))
  const [tightest] = capped
  if (!tightest) return { ...wanted, stoppedBy: [] }
  const paid = prices.filter((price) => price > 0n)
  const unit = paid.reduce(greatestCommonDivisor, 0n) || 1n
  const dearest = paid.reduce((most, price) => (price > most ? price : most), 0n)
  const most = (tightest.left / unit) * unit
  const above = tightest.left - dearest
  const least = above < 0n ? 0n : (above / unit + 1n) * unit
  const low = min(wanted.lowAtomic, min(least, most))
  return {
    lowAtomic: low,
    expectedAtomic: max(low, min(wanted.expectedAtomic, most)),
    highAtomic: most,
    stoppedBy: capped.map(({ name }) => name),
  }
}

function greatestCommonDivisor(a: Atomic, b: Atomic): Atomic {
  return b === 0n ? a : greatestCommonDivisor(b, a % b)
}

const min = (a: Atomic, b: Atomic) => (a < b ? a : b)
const max = (a: Atomic, b: Atomic) => (a > b ? a : b)
