import { z } from 'zod'

const credits = z.int().min(0)

/** What each thing costs, in credits of 0.01 USD. In one place, and changeable while the sandbox runs. */
export const pricesSchema = z.strictObject({
  /** Of both lookups by profile URL, found or not. */
  profile: credits.default(1),
  /** Of a contact that was found; misses and duplicates are free. */
  contact: credits.default(1),
  /** Of e-mails that were returned, for each of their two types. */
  emails: credits.default(15),
  /** Of phones that were returned. */
  phones: credits.default(30),
  /** Of one page, however many people are on it. */
  peopleSearch: credits.default(1),
  companyLookup: credits.default(1),
  companyEnrichment: credits.default(5),
})

export type Prices = z.infer<typeof pricesSchema>

const CREDIT_ATOMIC = 10_000n

/**
 * What a paid request is challenged for: an x402 payment is signed for one fixed amount, so it is the ceiling of what the
 * request may cost, and never nothing. The credit block of the answer has the truth.
 */
export function ceilingAtomic(ceilingCredits: number): string {
  return String(BigInt(Math.max(1, ceilingCredits)) * CREDIT_ATOMIC)
}
