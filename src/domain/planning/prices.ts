import type { Atomic } from '../money.ts'
import { factSlots, slotRow } from '../operations.ts'
import type { FactSlot, PriceTable } from './step.ts'

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
