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
  personLookup: credits.default(1),
  personEnrichment: credits.default(2),
  // One page of each search, whatever is on it.
  peopleSimilar: credits.default(1),
  companySearch: credits.default(1),
  companySimilar: credits.default(1),
  jobSearch: credits.default(1),
  newsSearch: credits.default(1),
  advertisementSearch: credits.default(1),
  cloudSearch: credits.default(1),
  expansionSearch: credits.default(2),
  expansionLookup: credits.default(2),
  expansionSignals: credits.default(1),
  /** For the insights of one company, of any kind. */
  insights: credits.default(2),
  expansionDetail: credits.default(2),
  expansionCompare: credits.default(3),
  expansionSummary: credits.default(5),
  expansionRankings: credits.default(3),
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
