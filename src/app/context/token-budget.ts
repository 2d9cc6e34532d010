import { creditsFromUsd } from '../../domain/credits.ts'
import type { Currency } from '../../domain/payment.ts'
import type { BudgetLine } from '../../domain/ports/charge-journal.ts'
import type { ApiTokenLedger } from '../../store/access/api-tokens.ts'

const mostRemembered = 1_000

/**
 * Returns the budget line of a charge that an API token asked for. It is reserved in the charge's own transaction like the
 * other lines, so that concurrent calls never spend more than the token's daily cap.
 */
export function createTokenLines(tokens: Pick<ApiTokenLedger, 'ofRun'>) {
  /** Most charges belong to a few runs, and the token of a run never changes. */
  const ofRun = new Map<string, ReturnType<ApiTokenLedger['ofRun']>>()

  return async function tokenLines(charge: {
    runId: string
    now: Date
    currency: Currency
  }): Promise<BudgetLine[]> {
    const token = await remembered(charge.runId)
    if (!token || token.dayCapAtomic === null) return []
    const { now } = charge
    const isCredits = charge.currency === 'credit'
    return [
      {
        scope: `${isCredits ? 'credits:' : ''}token:${token.id}:${now.toISOString().slice(0, 10)}`,
        capAtomic: isCredits ? creditsFromUsd(token.dayCapAtomic) : token.dayCapAtomic,
        resumesAt: new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1)),
      },
    ]
  }

  function remembered(runId: string) {
    const known = ofRun.get(runId)
    if (known) return known
    const asked = tokens.ofRun(runId)
    // A read that failed is repeated.
    asked.catch(() => ofRun.delete(runId))
    if (ofRun.size >= mostRemembered) ofRun.clear()
    ofRun.set(runId, asked)
    return asked
  }
}
