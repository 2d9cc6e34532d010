import type { LookupKey } from '../../domain/keys.ts'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'

export interface KnownAnswer {
  operation: Operation
  data: Record<string, unknown>
}

const pageSize = 500

/** Yields the answers of these operations that the ledger has, by key. Erased ones are not there. */
export async function* knownAnswers(
  db: Database,
  operations: readonly Operation[],
): AsyncGenerator<KnownAnswer> {
  for (let after: LookupKey | undefined; ;) {
    const rows = await db
      .selectFrom('lookups')
      .select(['key', 'operation', 'answer'])
      .where(isOneOf('operation', operations))
      .where('outcome', '=', 'found')
      .$if(after !== undefined, (query) => query.where('key', '>', after as LookupKey))
      .orderBy('key')
      .limit(pageSize)
      .execute()
    for (const { operation, answer } of rows)
      if (answer !== null) yield { operation, data: answer as Record<string, unknown> }
    if (rows.length < pageSize) return
    after = rows.at(-1)?.key
  }
}
