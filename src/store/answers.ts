import type { LookupKey } from '../domain/keys.ts'
import type { StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { Database } from './database.ts'

/** Writes an answer under its lookup; within the charge's transaction where it was paid for. */
export async function storeAnswer(
  db: Database,
  key: LookupKey,
  answer: StoredAnswer,
  at: Date,
): Promise<void> {
  await db
    .updateTable('lookups')
    .set({
      state: 'answered',
      outcome: answer.outcome,
      answer: answer.data === null ? null : JSON.stringify(answer.data),
      answered_at: at,
      fresh_until: answer.freshUntil,
      reason: null,
    })
    .where('key', '=', key)
    .execute()
}
