import { formatUsd, type Atomic } from '../money.ts'
import { factSlots, slotRow, slotsOf } from '../operations.ts'
import type { FactSlot, PriceTable } from './step.ts'
import { operations } from '../words.ts'
import { counted } from '../values/counted.ts'

/**
 * The published prices, which hold until the settings, a challenge or an answer says otherwise: one credit a profile,
 * lookup or match, 15 a revealed e-mail, 30 a revealed phone. The price of an enrichment is not published.
 */
export const defaultPrices: PriceTable = Object.fromEntries(
  factSlots.flatMap((slot) => {
    const { price } = slotRow(slot)
    return typeof price === 'bigint' ? [[slot, price]] : []
  }),
)

/** Every step that has a price of its own, as the settings name it. */
export const pricedSlots: readonly FactSlot[] = factSlots.filter((slot) => !isFreeSlot(slot))

/** Everything that may have a price: the steps, and each other operation. */
export const payableSlots: readonly FactSlot[] = [
  ...new Set([...pricedSlots, ...operations.flatMap(slotsOf)]),
].filter((slot) => !isFreeSlot(slot))

export function isFreeSlot(slot: FactSlot): boolean {
  return slotRow(slot).price === 'free'
}

/** The most that may be paid for each step; for one that is not named, `otherAtomic`. */
export interface PriceCaps {
  otherAtomic: Atomic
  bySlot: PriceTable
}

export function capOf(slot: FactSlot, { bySlot, otherAtomic }: PriceCaps): Atomic {
  return bySlot[slot] ?? otherAtomic
}

/** Returns the caps of a spending policy by step. */
export function capsOf({
  maxPriceAtomic,
  maxPrices,
}: {
  maxPriceAtomic: Atomic
  maxPrices?: PriceTable | undefined
}): PriceCaps {
  return { otherAtomic: maxPriceAtomic, bySlot: maxPrices ?? {} }
}

/** The price of one step, and the most that may be paid for it. */
export interface StepPrice {
  step: FactSlot
  /** Undefined where no price is published or set: only a challenge says it. */
  priceAtomic: Atomic | undefined
  capAtomic: Atomic
  /** True for a step whose price is above its cap: it is refused, and nothing is paid. */
  isStopped: boolean
}

/** Returns price and cap of each step. Every page and command that names a price or a cap of a step takes it from here. */
export function stepPrices(
  prices: PriceTable,
  caps: PriceCaps,
  steps: readonly FactSlot[] = pricedSlots,
): StepPrice[] {
  return steps.map((step) => {
    const priceAtomic = prices[step]
    const capAtomic = capOf(step, caps)
    return { step, priceAtomic, capAtomic, isStopped: priceAtomic !== undefined && priceAtomic > capAtomic }
  })
}

/** The number of lookups that a balance pays for: of the cheapest step that may be bought, and of the dearest. */
export interface Cover {
  cheapest: { priceAtomic: Atomic; lookups: bigint }
  dearest: { priceAtomic: Atomic; lookups: bigint }
}

/** Returns undefined where every step is above its cap, so that nothing can be bought with any balance. */
export function coverOf(balanceAtomic: Atomic, steps: readonly StepPrice[]): Cover | undefined {
  const costs = steps
    .filter(({ isStopped }) => !isStopped)
    .map(({ priceAtomic, capAtomic }) => priceAtomic ?? capAtomic)
    .filter((cost) => cost > 0n)
    .sort((a, b) => (a < b ? -1 : 1))
  const of = (priceAtomic: Atomic) => ({ priceAtomic, lookups: balanceAtomic / priceAtomic })
  const [least, most] = [costs[0], costs.at(-1)]
  return least === undefined || most === undefined ? undefined : { cheapest: of(least), dearest: of(most) }
}

export function coverText(cover: Cover | undefined): string {
  if (!cover) return 'and no step may be bought: each one costs more than its cap'
  const { cheapest, dearest } = cover
  const one = `enough for ${counted(Number(cheapest.lookups), 'lookup')} at ${formatUsd(cheapest.priceAtomic)}`
  return dearest.priceAtomic === cheapest.priceAtomic
    ? one
    : `${one}, or ${dearest.lookups} at ${formatUsd(dearest.priceAtomic)}`
}
