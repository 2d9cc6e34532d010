import type { PriceTable } from './plan-step.ts'

/** One credit in USDC's smallest unit (service.md, 8). */
export const creditAtomic = 10_000n

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
