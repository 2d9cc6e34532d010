import { contactTypes } from '../contact-types.ts'
import type { Atomic } from '../money.ts'
import type { FactSlot, PriceTable } from './step.ts'
import { operations, freeOperations } from '../words.ts'

/** One credit in USDC's smallest unit (service.md, 8). */
const creditAtomic = 10_000n

/**
 * What is known of prices before anything was asked: one credit a profile, lookup or match, 15 an e-mail and 30 a phone
 * that are revealed. The truth comes with each challenge and answer; what an enrichment costs is nowhere said.
 */
export const defaultPrices: PriceTable = {
  'company.profile': creditAtomic,
  'person.profile': creditAtomic,
  'contact.lookup': creditAtomic,
  'company.lookup': creditAtomic,
  'contact.redeem:email-work': 15n * creditAtomic,
  'contact.redeem:email-personal': 15n * creditAtomic,
  'contact.redeem:phone': 30n * creditAtomic,
}

/** Every step that has a price of its own, as the settings name it. */
export const pricedSlots: readonly FactSlot[] = operations
  .filter((operation) => !freeOperations.includes(operation))
  .flatMap((operation): FactSlot[] =>
    operation === 'contact.redeem'
      ? contactTypes.map((type) => `contact.redeem:${type}` as const)
      : [operation as Exclude<typeof operation, 'contact.redeem'>],
  )

/** The most that may be paid for each step; for one that is not named, `otherAtomic`. */
export interface PriceCaps {
  otherAtomic: Atomic
  bySlot: PriceTable
}

export function capOf(slot: FactSlot, { bySlot, otherAtomic }: PriceCaps): Atomic {
  return bySlot[slot] ?? otherAtomic
}
