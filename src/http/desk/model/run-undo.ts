import type { FieldValue } from '../../../domain/record.ts'

/** The changes that an undo of a run would make, or has made. */
export interface UndoView {
  /** Fields that get their old value back. */
  restored: number
  /** Fields that already have it. */
  already: number
  /** Fields that are left as they are. */
  left: number
  rows: {
    record: string
    field: string
    outcome: 'restored' | 'would_restore' | 'already' | 'left'
    reason?: string
    /** The record that it was merged into, where the field is put back. */
    mergedInto?: string
    /** The value that an undo puts back; null: blank. */
    old?: FieldValue | null
    /** The value in the record now; null: blank, or the record is gone. */
    now?: FieldValue | null
  }[]
  /** The reason why it is not complete. */
  unfinished?: string | undefined
}

/** An undo that was started here. */
export interface UndoJob {
  by: string
  startedAt: Date
  /** Undefined while it is at work. */
  ended: { done: UndoView } | { problem: string } | undefined
}

export interface UndoPort {
  /** Reads the records and says what an undo would do; writes nothing. Ends early after a while, and says so. */
  plan(runId: string): Promise<UndoView>
  /**
   * Starts the undo and returns at once. Returns false while one of this run is at work here. `onEnd` is called with its
   * figures when it has ended.
   */
  start(
    runId: string,
    by: string,
    onEnd: (figures: Record<string, number | string>) => Promise<void>,
  ): boolean
  /** Returns the last undo of a run that was started in this process. */
  job(runId: string): UndoJob | undefined
}
