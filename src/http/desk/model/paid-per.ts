import type { Atomic } from '../../../domain/money.ts'
import type { Funnel } from '../../../store/views/desk-runs.ts'

interface Paid {
  usd: Atomic
  credits: Atomic
}

/**
 * Returns what a run has paid for each of so many records; undefined for none. Lost charges count, as in `paydirt report`:
 * they were paid.
 */
export function paidPer(funnel: Funnel, records: number): Paid | undefined {
  if (records === 0) return undefined
  return {
    usd: (funnel.settledAtomic + funnel.lostAtomic) / BigInt(records),
    credits: (funnel.creditsAtomic + funnel.creditsLostAtomic) / BigInt(records),
  }
}
