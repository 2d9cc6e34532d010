import { usdFromCredits } from '../../domain/credits.ts'
import { errorCode } from '../../domain/error-codes.ts'
import type { BudgetExhaustedError } from '../../domain/errors.ts'
import { pricedSlots } from '../../domain/planning/prices.ts'
import type { PriceTable } from '../../domain/planning/step.ts'
import type { SpentLimit } from '../../store/ledger/lookup-endings.ts'

/** Returns the limit that a lookup did not fit into; undefined where the error does not say what did not fit. */
export function limitOf({ code, details }: BudgetExhaustedError, prices: PriceTable): SpentLimit | undefined {
  if (code === errorCode.stopped) return { slots: pricedSlots }
  const { scope, cap, amount } = details
  if (typeof amount !== 'string') return undefined
  const amountAtomic = BigInt(amount)
  const usdAtomic = String(scope).startsWith('credits:') ? usdFromCredits(amountAtomic) : amountAtomic
  const slots = pricedSlots.filter((slot) => (prices[slot] ?? 0n) >= usdAtomic)
  if (typeof scope !== 'string' || typeof cap !== 'string') return { slots }
  return { slots, budget: { scope, capAtomic: BigInt(cap), amountAtomic } }
}
