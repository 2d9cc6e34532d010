import type { ObjectKind } from '../domain/words.ts'

/** What a run would buy and cost at most, as scripts read it. `low` and `high` differ only where a price is not known yet. */
export interface RunPlan {
  plan: true
  object: ObjectKind
  connector: string
  records: number
  lookups: { unique: number; cached: number; duplicates: number; toBuy: number }
  tasks: { skipped: number; rejected: number }
  cost: { currency: 'USD'; low: string; high: string }
}

export function planText({ records, lookups, tasks, cost }: RunPlan): string {
  const range = cost.low === cost.high ? cost.high : `${cost.low} to ${cost.high}`
  return `${records} records
  ${lookups.unique} different profiles, ${lookups.duplicates} further records are duplicates of them
  ${lookups.cached} already in the ledger, ${lookups.toBuy} to buy
  ${tasks.rejected} rejected and ${tasks.skipped} skipped, at no cost
cost: ${range} USD at most. Nothing was paid.
`
}
