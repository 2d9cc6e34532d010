import { usdFromCredits } from '../../domain/credits.ts'
import { formatUsd } from '../../domain/money.ts'
import { creditCounts } from '../../store/ledger/paid-charges.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'

/** The service's own count of what its answers cost, beside the ledger's for the same answers. */
export interface ServiceCount {
  currency: 'USD' | 'credit'
  /** Settled charges, and how many of their answers said what they cost. */
  charges: number
  counted: number
  credits: string
  /** Those credits in the ledger's currency (a credit is a cent), what the ledger has for the same answers, and the rest. */
  service: string
  ledger: string
  /** Ledger less service. By request the ceiling of the challenge is paid, so this may be above 0 in USD; in credits never. */
  difference: string
}

/** Of the workspace that the API key names, as the service tells it. */
export interface AccountCount {
  /** Credits used in all, by whoever has the key; null where the service does not say. */
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

/** Undefined without an API key: then there is no workspace to ask for. */
export async function accountCount(engine: Pick<Engine, 'askAccount'>): Promise<AccountCount | undefined> {
  const data = await engine.askAccount()
  if (!data) return undefined
  const number = (name: string) => (typeof data[name] === 'number' ? data[name] : undefined)
  const [credit, topup] = [number('credit'), number('topup_credit')]
  const left = credit === undefined && topup === undefined ? null : (credit ?? 0) + (topup ?? 0)
  const used = number('total_credit_used') ?? number('total_credit_cost')
  return { used: used === undefined ? null : String(used), left: left === null ? null : String(left) }
}
