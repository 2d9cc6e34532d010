import { z } from 'zod'

const credits = z.int().min(0)

/** Prices in credits of 0.01 USD. They can be changed while the sandbox runs. */
export const pricesSchema = z.strictObject({
  /** For both lookups by profile URL, found or not. */
  profile: credits.default(1),
  /** For a contact that was found. Misses and duplicates are free. */
  contact: credits.default(1),
  /** For returned e-mails, for each of their two types. */
  emails: credits.default(15),
  /** For returned phones. */
  phones: credits.default(30),
  /** For one page, independent of the number of people on it. */
  peopleSearch: credits.default(1),
  companyLookup: credits.default(1),
  companyEnrichment: credits.default(5),
})

export type Prices = z.infer<typeof pricesSchema>

const CREDIT_ATOMIC = 10_000n

/**
 * Returns the amount that a paid request is challenged for. An x402 payment is signed for one fixed amount, so it is
 * the ceiling of the request's cost, and never zero. The credit block of the answer states the actual cost.
 */
export function ceilingAtomic(ceilingCredits: number): string {
  return String(BigInt(Math.max(1, ceilingCredits)) * CREDIT_ATOMIC)
}
