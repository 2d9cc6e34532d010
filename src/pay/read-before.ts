import type { ChargeJournal } from '../domain/ports/charge-journal.ts'
import type { PayerOptions } from './payer-options.ts'
import type { Purchase, Unanswered } from './purchase.ts'

/**
 * Returns the charges of earlier attempts. A charge that was opened after they were read ahead is found by `reserve`, which looks
 * again under the lookup's lock and refuses a second one. One that is lost in that moment is like one that is lost while this
 * lookup waits for its permit.
 */
export async function earlierOf(
  { key, readAhead }: Purchase,
  journal: Pick<ChargeJournal, 'unanswered'>,
): Promise<Unanswered> {
  const read = await readAhead
  return read && !read.open && read.lost === 0 ? read : journal.unanswered(key)
}

/**
 * Has the budgets that the run decides read from the ledger, which are then remembered, beside the wait for the pace. The lines are
 * made after the wait, which may end on another day.
 */
export async function recallBudgets(
  { runId }: Purchase,
  { recallRun }: Pick<PayerOptions, 'recallRun'>,
): Promise<void> {
  try {
    await recallRun?.(runId)
  } catch {
    // Asked again when the charge is reserved.
  }
}
