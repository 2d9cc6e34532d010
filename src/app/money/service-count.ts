import { usdFromCredits } from '../../domain/credits.ts'
import { formatUsd } from '../../domain/money.ts'
import { creditCounts } from '../../store/ledger/paid-charges.ts'
import type { Context } from '../context/context.ts'

/** The service's own count of what its answers cost, and the ledger's for the same answers. */
export interface ServiceCount {
  currency: 'USD' | 'credit'
  /** Settled charges, and how many of their answers said what they cost. */
  charges: number
  counted: number
  credits: string
  /** Those credits in the ledger's currency (a credit is a cent), and the ledger's amount for the same answers. */
  service: string
  ledger: string
  /** Ledger less service. May be above 0 in USD, where each request pays the ceiling of its challenge; never in credits. */
  difference: string
  /** Settled charges whose answer said no cost, or that have none: no count of the service confirms them. */
  unconfirmed: { charges: number; amount: string }
}

export async function serviceCounts({ database }: Pick<Context, 'database'>): Promise<ServiceCount[]> {
  return (await creditCounts(database.db)).map(
    ({ currency, charges, counted, creditsAtomic, ledgerAtomic, settledAtomic }) => {
      const serviceAtomic = currency === 'USD' ? usdFromCredits(creditsAtomic) : creditsAtomic
      return {
        currency,
        charges,
        counted,
        credits: formatUsd(creditsAtomic),
        service: formatUsd(serviceAtomic),
        ledger: formatUsd(ledgerAtomic),
        difference: formatUsd(ledgerAtomic - serviceAtomic),
        unconfirmed: { charges: charges - counted, amount: formatUsd(settledAtomic - ledgerAtomic) },
      }
    },
  )
}
