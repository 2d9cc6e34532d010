import type { Database } from '../database/database.ts'
import type { GiveWay } from '../database/go-first.ts'
import { confirmWrites } from './confirm-writes.ts'
import type { TaskOutcome } from './task-outcome.ts'
import { createMergedRecords, type MergedRecords } from '../runs/merged-records.ts'
import { createWriteRecords, type WriteRecords } from './written-fields.ts'
import { createWriteIntents, type WriteIntents } from './write-intents.ts'

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
  /** Page by page; between two of them it may give way to others. */
  confirmWrites(results: readonly TaskOutcome[], giveWay?: Pick<GiveWay, 'goOn'>): Promise<void>
}

export function createFieldWriteLedger(db: Database, options: { now: () => Date }): FieldWriteLedger {
  return {
    ...createWriteIntents(db, options),
    ...createWriteRecords(db, options),
    ...createMergedRecords(db, options),
    confirmWrites: (results, giveWay) => confirmWrites(db, results, { ...options, giveWay }),
  }
}
