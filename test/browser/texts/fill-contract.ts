import type { Database } from '../../../src/store/database/database.ts'
import { storable } from './storable.ts'

/** Puts one text wherever the service's answers may have put one: words, new names of keys, prices, the reason of a stop. */
export async function fillContract(db: Database, text: string, now: Date): Promise<void> {
  const said = storable(text)
  // Longer words are no words, and indexes hold no longer ones either.
  const word = [...said].slice(0, 600).join('')
  await db
    .insertInto('learned_words')
    .values(
      ['job_functions', word].map((vocabulary) => ({ vocabulary, word, first_seen: now, last_seen: now })),
    )
    .execute()
  await db
    .insertInto('accepted_renames')
    .values({ operation: 'job.search', field: 'functions', wire_name: said, accepted_at: now })
    .execute()
  await db
    .insertInto('service_warnings')
    .values({
      endpoint: 'POST http://127.0.0.1:9/jobs/search',
      kind: 'renamed',
      field: 'domains',
      renamed_to: said,
      first_seen_at: now,
    })
    .execute()
  await db
    .insertInto('seen_prices')
    .values({
      price_class: `POST http://127.0.0.1:9/jobs/search (${word})`,
      protocol: 'x402',
      currency: 'USD',
      amount_atomic: 20_000n,
      seen_at: now,
    })
    .execute()
  await db
    .insertInto('operation_states')
    .values({
      operation: 'job.search',
      part: '',
      place: null,
      state: 'stopped',
      code: 'unreadable',
      reason: said,
      since: now,
      confirmed_at: null,
    })
    .execute()
}
