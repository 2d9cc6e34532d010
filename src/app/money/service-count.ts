import { usdFromCredits } from '../../domain/credits.ts'
import { formatUsd } from '../../domain/money.ts'
import { creditCounts } from '../../store/ledger/paid-charges.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'

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
}

/** The workspace of the API key, as the service reports it. */
export interface AccountCount {
  /** Credits used with the key in all; null when the service does not say. */
  used: string | null
  left: string | null
}

export async function serviceCounts({ database }: Pick<Context, 'database'>): Promise<ServiceCount[]> {
  return (await creditCounts(database.db)).map(
    ({ currency, charges, counted, creditsAtomic, ledgerAtomic }) => {
      const serviceAtomic = currency === 'USD' ? usdFromCredits(creditsAtomic) : creditsAtomic
      return {
        currency,
        charges,
        counted,
        credits: formatUsd(creditsAtomic),
        service: formatUsd(serviceAtomic),
        ledger: formatUsd(ledgerAtomic),
        difference: formatUsd(ledgerAtomic - serviceAtomic),
      }
    },
  )
}

/** Returns undefined without an API key, because there is no workspace to ask about. */
export async function accountCount(engine: Pick<Engine, 'askAccount'>): Promise<AccountCount | undefined> {
  const data = await engine.askAccount()
  if (!data) return undefined
  const number = (name: string) => (typeof data[name] === 'number' ? data[name] : undefined)
  const [credit, topup] = [number('credit'), number('topup_credit')]
  const left = credit === undefined && topup === undefined ? null : (credit ?? 0) + (topup ?? 0)
  const used = number('total_credit_used') ?? number('total_credit_cost')
  return { used: used === undefined ? null : String(used), left: left === null ? null : String(left) }
}
