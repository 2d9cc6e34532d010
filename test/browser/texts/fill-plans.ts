import type { Database } from '../../../src/store/database/database.ts'
import type { Filled } from './pages.ts'
import { lookupKey, storable } from './storable.ts'

/** Adds a plan that is made and one that is being made. */
export async function fillPlans(db: Database, text: string, now: Date, { plan }: Filled): Promise<void> {
  const range = { low: '0.000000', expected: '1234.567891', high: '98765.432100' }
  const step = {
    step: 'contact.redeem:email-personal',
    price: '0.150000',
    cap: '0.010000',
    lookups: { low: 0, expected: 1.5, high: 1_234_567 },
    cost: range,
  }
  const figures = {
    plan: true,
    records: 1_234_567,
    lookups: { unique: 3, cached: 1, duplicates: 1, toBuy: 2 },
    tasks: { skipped: 1, rejected: 1 },
    cost: range,
    uncapped: range,
    steps: [
      { ...step, stopped: true },
      { ...step, step: 'company.profile', price: null, stopped: false },
    ],
    limits: [
      { name: 'run', cap: '50.000000', used: '0.000000', left: '50.000000', stops: true },
      { name: 'connector', cap: null, used: '1.000000', left: null, stops: false },
      { name: 'wallet', cap: null, used: '0.000000', left: null, stops: false },
      { name: 'stopped', cap: null, used: '0.000000', left: null, stops: true },
    ],
    wallet: { address: '0x1', balance: null },
    begins: text.length <= 10,
    refusals: [{ code: 'value_rules', message: storable(text) }],
    leftOut: [{ field: storable(text), why: 'not_mapped', records: 3 }],
  }
  for (const [id, document] of [
    [plan, figures],
    [`${plan}-begun`, {}],
  ] as const) {
    await db
      .insertInto('plans')
      .values({
        id,
        kind: 'sync',
        connector: 'hubspot',
        object: 'company',
        entity: 'companies',
        recipe: storable(text),
        job: JSON.stringify({ limit: 500 }),
        document: JSON.stringify(document),
        to_buy: 2,
        price_atomic: 10_000n,
        high_atomic: 20_000n,
        made_at: now,
      })
      .execute()
  }
  const change = { from: storable(text), to: storable(text) }
  await db
    .insertInto('plan_records')
    .values(
      [0, 1, 2].map((ordinal) => ({
        plan_id: plan,
        ordinal,
        record_id: `${ordinal}${storable(text)}`,
        digest: 'd',
        lookup_key: lookupKey(text),
        preview:
          ordinal === 2 ? null : JSON.stringify({ company_name: change, website: { ...change, from: null } }),
      })),
    )
    .execute()
}
