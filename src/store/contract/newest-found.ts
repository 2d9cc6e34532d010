import { sql } from 'kysely'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

export interface FoundAnswer {
  operation: Operation
  answer: Record<string, unknown>
}

/** Answers that are looked at of each operation. */
const newest = 5

/** Returns the newest answers of operations that found something, the newest first. */
export async function newestFound(db: Database, operations: readonly Operation[]): Promise<FoundAnswer[]> {
  const { rows } = await sql<FoundAnswer>`
    with placed as materialized (
      select key, row_number() over (partition by operation order by answered_at desc) as place
      from lookups where operation = any(${[...operations]}::text[]) and state = 'answered' and outcome = 'found'
        and answered_at is not null and not request ? '$path' and key not like 'bundle|%'
    )
    select operation, answer from placed join lookups using (key)
    where place <= ${newest} and jsonb_typeof(answer) in ('object', 'array') order by answered_at desc`.execute(
    db,
  )
  return rows
}
