import type { Authorization, Currency, ResponseHead } from '../domain/payment.ts'
import type { BudgetLine, ChargeJournal } from '../domain/ports/charge-journal.ts'
import type { AcquirePermit } from '../domain/ports/send-permit.ts'
import type { AdmissionOptions } from './limits/admission.ts'
import type { DispatchOptions } from './dispatch.ts'
import type { Funds } from './limits/funds.ts'

export interface PayerOptions extends AdmissionOptions, DispatchOptions {
  journal: ChargeJournal
  acquirePermit: AcquirePermit
  budgetLines: (charge: {
    runId: string
    connector: string
    now: Date
    currency: Currency
  }) => BudgetLine[] | Promise<BudgetLine[]>
  /** Reads what a run decides of its budgets, so that `budgetLines` need not wait for it. */
  recallRun?: ((runId: string) => Promise<unknown>) | undefined
  funds: Funds
  /** Names this ledger in every nonce, so that two ledgers with one wallet never derive the same nonce. */
  ledgerId: string
  /** The wallet's; see payment-seed.ts. Undefined without a wallet. */
  seedSecret?: string | undefined
  lifetimeSeconds: number
  /**
   * True for an authorization that the transaction used with other bytes than these: the ledger was restored from a backup of
   * before. Only for nonces that are derived.
   */
  usedBefore?: ((authorization: Authorization, transaction: string) => Promise<boolean>) | undefined
  /** True where a lookup that was paid for and never answered is bought again, once. */
  rebuyLost: boolean
  /** Counts requests that carry no charge (challenges, free answers). */
  onRequest?: (runId: string, response: ResponseHead | undefined) => void
}
