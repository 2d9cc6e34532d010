import { sql } from 'kysely'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

export interface StoredWhole {
  key: string
  operation: Operation
  outcome: 'found' | 'not_found' | 'unreadable'
  answer: Record<string, unknown> | null
  answeredAt: Date
}

/** An answer can have some hundred kilobytes. */
const pageSize = 40

/** Yields the stored answers of operations, by key and a page at a time. Answers of batches stand under their members. */
export async function* storedAnswers(
  db: Database,
  operations: readonly Operation[],
): AsyncGenerator<StoredWhole> {
  let after = ''
  for (;;) {
    const { rows } = await sql<StoredWhole>`
      select key, operation, outcome, answer, answered_at as "answeredAt" from lookups
      where key > ${after} and operation = any(${[...operations]}::text[]) and state = 'answered'
        and outcome in ('found', 'not_found', 'unreadable') and answered_at is not null and key not like 'bundle|%'
        and not request ? '$path'
      order by key limit ${pageSize}`.execute(db)
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = last.key
  }
}
