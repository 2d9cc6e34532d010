import type { Database, OpenDatabase } from '../database/database.ts'
import { confirmWrites } from './confirm-writes.ts'
import type { TaskOutcome } from './task-outcome.ts'
import { createMergedRecords, type MergedRecords } from '../runs/merged-records.ts'
import { createWriteRecords, type WriteRecords } from './written-fields.ts'
import { createWriteIntents, type WriteIntents, type WritePages } from './write-intents.ts'

/**
 *     (nothing) ──intend──▶ intended ──confirm──▶ written ──▶ superseded (by a later write) or undone
 *                                       └───────▶ rejected (by the CRM)
 *
 * - Before `intend` commits: nothing was sent to the CRM.
 * - After `intend`, before `confirmWrites`: the CRM may or may not have taken the write. The task is still ready and is
 *   written again. Its intents keep the values from before the first attempt.
 * - `confirmWrites` ends the task and confirms its fields in one transaction, so that each write counts exactly once.
 */
export interface FieldWriteLedger extends WriteIntents, WriteRecords, MergedRecords {
  confirmWrites(results: readonly TaskOutcome[]): Promise<void>
}

/**
 * On the embedded pair everybody waits for the statement that is running, and for its transaction: a hundred records took it for 100 to
 * 250 ms beside other work. Small pages cost it little. A server runs others beside it, and pays for each statement.
 */
const writePages: Record<OpenDatabase['kind'], WritePages> = {
  postgres: { tasks: 500 },
  pglite: { tasks: 20 },
}

export function createFieldWriteLedger(
  db: Database,
  { now, kind = 'postgres' }: { now: () => Date; kind?: OpenDatabase['kind'] },
): FieldWriteLedger {
  const pages = writePages[kind]
  const options = { now, pages }
  return {
    ...createWriteIntents(db, options),
    ...createWriteRecords(db, options),
    ...createMergedRecords(db, options),
    confirmWrites: (results) => confirmWrites(db, results, options),
  }
}
