import type { ChargeJournal } from '../domain/ports/charge-journal.ts'
import type { PayerOptions } from './payer-options.ts'
import type { SendPermit } from '../domain/ports/send-permit.ts'
import type { PermitAhead, Purchase, Unanswered } from './purchase.ts'

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
  runId: string,
  { recallRun }: Pick<PayerOptions, 'recallRun'>,
): Promise<void> {
  try {
    await recallRun?.(runId)
  } catch {
    // Asked again when the charge is reserved.
  }
}

/** A request by an older permit would leave later than the pace has counted it. */
const mostAgeMs = 250

/** Asks for a permit at once. One that is not taken counts as one that nothing was sent by. */
export function permitAhead(
  acquire: () => Promise<SendPermit>,
  nowMs: () => number = () => performance.now(),
): PermitAhead {
  let isTaken = false
  let givenMs = Infinity
  const permit = acquire()
  permit.then(
    () => (givenMs = nowMs()),
    // The error is that of whoever takes it.
    () => {},
  )
  return {
    take() {
      if (isTaken || nowMs() - givenMs > mostAgeMs) return undefined
      isTaken = true
      return permit
    },
    giveBack() {
      if (!isTaken) permit.then((given) => given.done(undefined)).catch(() => {})
      isTaken = true
    },
  }
}
