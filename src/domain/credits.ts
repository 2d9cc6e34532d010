import type { Atomic } from './money.ts'

/** The service's price list counts a credit as one cent (service.md, section 8). */
const creditsPerUsd = 100n
const millionths = 1_000_000

/** Converts an amount in USD to the same amount in millionths of a credit. */
export function creditsFromUsd(usdAtomic: Atomic): Atomic {
  return usdAtomic * creditsPerUsd
}

/** Converts millionths of a credit to USD, rounded down to USDC's smallest unit. */
export function usdFromCredits(creditsAtomic: Atomic): Atomic {
  return creditsAtomic / creditsPerUsd
}

/** Converts a number of credits, as a service's answer or the configuration has it, to millionths of a credit. */
export function atomicCredits(credits: number): Atomic {
  return BigInt(Math.round(credits * millionths))
}

/** Converts millionths of a credit to whole credits, rounded down. */
export function wholeCredits(creditsAtomic: Atomic): bigint {
  return creditsAtomic / BigInt(millionths)
}

/** More than any request can cost. A larger number is a mistake of the service, and no cost. */
const mostCredits = 100_000

/**
 * Returns the cost that an answer states, in millionths of a credit. Undefined when it states none, or a number that cannot
 * be one: negative, not finite, beyond all prices. A mistake in its metadata must not cost the answer.
 */
export function statedCost(credits: number | undefined): Atomic | undefined {
  const isCost = credits !== undefined && credits >= 0 && credits <= mostCredits
  return isCost ? atomicCredits(credits) : undefined
}
