/** An amount in USDC's smallest unit: 1 USD = 1,000,000. Money is never a float. */
export type Atomic = bigint

const decimals = 6
const scale = 10n ** BigInt(decimals)
const usdPattern = /^(\d{1,12})(?:\.(\d{1,6}))?$/

/** Reads "0.01" as 10000n. Throws RangeError for anything but a plain non-negative decimal of at most six places. */
export function parseUsd(text: string): Atomic {
  const match = usdPattern.exec(text.trim())
  if (!match) throw new RangeError(`not an amount in USD with at most six decimals: "${text}"`)
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole) * scale + BigInt(fraction.padEnd(decimals, '0'))
}

/** True where an amount as it is printed is not zero. */
export function isAboveZero(printed: string): boolean {
  return /[1-9]/.test(printed)
}

/** Prints "7.500000" as "7.5", for credits, which are whole as a rule. */
export function withoutZeros(printed: string): string {
  return printed.replace(/\.?0+$/, '')
}

/** Prints 10000n as "0.010000": always six places, as every report and contract shows money. */
export function formatUsd(amount: Atomic): string {
  const sign = amount < 0n ? '-' : ''
  const absolute = amount < 0n ? -amount : amount
  return `${sign}${absolute / scale}.${String(absolute % scale).padStart(decimals, '0')}`
}
