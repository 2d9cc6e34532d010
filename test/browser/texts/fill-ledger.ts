import type { Database } from '../../../src/store/database/database.ts'
import { fillContract } from './fill-contract.ts'
import { fillMoney } from './fill-money.ts'
import { fillPlans } from './fill-plans.ts'
import { fillRuns } from './fill-runs.ts'
import type { Filled } from './pages.ts'
import { storable } from './storable.ts'

/** Puts one text into every column that a page shows and that a person, a CRM, a file or the service may have filled. */
export async function fillLedger(db: Database, text: string, now: Date): Promise<Filled> {
  const filled = {
    run: 'rtexts0000000000001',
    csvRun: 'rtexts0000000000002',
    plan: 'ptexts',
    record: 'hubspot:companies:1',
    account: 'hubspot:companies:2',
    text,
  }
  await fillRuns(db, text, now, filled)
  await fillMoney(db, text, now, filled)
  await fillPlans(db, text, now, filled)
  await fillContract(db, text, now)
  await db
    .insertInto('switches')
    // The shortest texts are tried while spending is on.
    .values({ name: 'spending_stopped', is_on: text.length > 10, reason: storable(text), changed_at: now })
    .execute()
  await db
    .insertInto('audit')
    .values(
      [storable(text), 'cli'].map((actor) => ({
        at: now,
        actor,
        role: 'operator',
        action: actor === 'cli' ? 'spending.stop' : storable(text),
        target: storable(text),
        details: JSON.stringify({ reason: storable(text), records: 3 }),
      })),
    )
    .execute()
  await db
    .insertInto('alerts')
    .values({
      condition: 'wallet_low',
      subject: '',
      severity: 'critical',
      message: storable(text),
      raised_at: now,
      ended_at: null,
      ended_message: null,
    })
    .execute()
  await db
    .insertInto('api_tokens')
    .values({
      id: 'tok',
      name: storable(text),
      digest: 'd',
      scopes: ['enrich'],
      per_minute: 60,
      day_cap_atomic: 1_000_000n,
      created_at: now,
      last_used_at: now,
      revoked_at: null,
    })
    .execute()
  return filled
}
