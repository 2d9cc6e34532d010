import type { Database } from '../../../src/store/database/database.ts'
import type { Filled } from './pages.ts'
import { lookupKey, storable } from './storable.ts'

/** Adds charges in several states, a refusal and a reconciliation. */
export async function fillMoney(db: Database, text: string, now: Date, filled: Filled): Promise<void> {
  const key = lookupKey(text)
  await db
    .insertInto('charges')
    .values(
      (['settled', 'in_doubt', 'lost'] as const).map((state, index) => ({
        id: `c${index}`,
        lookup_key: key,
        attempt: index,
        run_id: filled.run,
        connector: 'hubspot',
        operation: 'company.profile' as const,
        endpoint: 'companies',
        url: 'u',
        body: '{}',
        protocol: 'x402' as const,
        currency: 'USD' as const,
        amount_atomic: 10_000n,
        authorization_json: '{}',
        nonce: `n${index}`,
        budget_scopes: [],
        state,
        transaction: storable(text),
        created_at: now,
        touched_at: now,
      })),
    )
    .execute()
  await db
    .insertInto('refusals')
    .values({
      lookup_key: key,
      run_id: filled.run,
      endpoint: 'companies',
      rule: 'recipient',
      message: storable(text),
      refused_at: now,
    })
    .execute()
  await db
    .insertInto('reconciliations')
    .values({
      at: now,
      difference_atomic: -20_000n,
      differences: 2,
      in_doubt_atomic: 10_000n,
      document: '{}',
    })
    .execute()
}
