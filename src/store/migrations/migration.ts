/**
 * A step of the schema. It expands: it adds what the version before neither reads nor needs, so that both run on the schema
 * after it, and the newer version can be taken back. What it replaces goes in a later version, with `oldestProgram`.
 */
export interface Migration {
  /** Four digits and words. The digits are the order. */
  name: string
  /** SQL in one transaction, which takes no lock for longer than a moment: no index on a table that has rows, no validation. */
  statements: string
  /** Built after the transaction, while the table is read and written. No program may need one to be right, only to be quick. */
  indexes?: readonly Index[]
  /** Names of indexes whose work `indexes` do: dropped once those are built, so that no query is without one meanwhile. */
  drops?: readonly string[]
  /** Constraints that were added NOT VALID, now or before: validated after the transaction, beside reads and writes. */
  validates?: readonly { table: string; constraint: string }[]
  /**
   * A contracting migration: the digits of the last migration that the oldest program knows which runs on the schema after it.
   * Older programs refuse to start. Absent: every program that ran before it runs after it.
   */
  oldestProgram?: string
  /** The same for an embedded ledger that begins with it: no older program has ever opened that one. */
  oldestProgramOfNew?: string
}

export interface Index {
  name: string
  /** Table, columns, condition, as `create index NAME on` has them. */
  on: string
  isUnique?: boolean
}

/** Is told each step of a migration in words for a person; warn: one that may take long. */
export type OnStep = (line: string, level: 'info' | 'warn') => void
