import { LedgerAdapter, type Connected } from '../packed/ledger-adapter.ts'

/** The adapter of a ledger that runs in the thread of its callers. */
export class EmbeddedAdapter extends LedgerAdapter {}

/** True for a ledger whose statements take this thread's own time, and that no other process writes. */
export function isEmbedded(db: Connected): boolean {
  return db.getExecutor().adapter instanceof EmbeddedAdapter
}
