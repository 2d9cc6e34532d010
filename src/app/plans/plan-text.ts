import { leftOutText } from '../../domain/planning/wanted-fields.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { LeftOutField } from '../../store/runs/task-progress.ts'

/** The lookups that a run would buy, and the most that they cost. Scripts rely on its form. `low` and `high` differ only when a price is not known yet. */
export interface RunPlan {
  plan: true
  object: ObjectKind
  connector: string
  records: number
  lookups: { unique: number; cached: number; duplicates: number; toBuy: number }
  tasks: { skipped: number; rejected: number }
  cost: { currency: 'USD'; low: string; high: string }
  /** The fields of the recipe that could not be written in so many records, and why: nothing would be bought for them. */
  leftOut?: LeftOutField[] | undefined
  /** The id for `paydirt apply`. */
  planId?: string
  /** The writes from facts that the ledger already has: counts, and the first records field by field. */
  preview?:
    | {
        records: number
        fields: Record<string, number>
        rows: { record: string; fields: Record<string, { from: FieldValue | null; to: FieldValue }> }[]
      }
    | undefined
}

export function planText({ records, lookups, tasks, cost, planId, preview, leftOut }: RunPlan): string {
  const range = cost.low === cost.high ? cost.high : `${cost.low} to ${cost.high}`
  return `${records} records
  ${lookups.unique} different profiles, ${lookups.duplicates} duplicates of them
  ${lookups.cached} already in the ledger, ${lookups.toBuy} to buy
  ${tasks.rejected} rejected and ${tasks.skipped} skipped, at no cost
${leftOut ? `not bought, because it could not be written: ${leftOutText(leftOut)}\n` : ''}cost: ${range} USD at most. Nothing was paid.
${preview ? previewText(preview) : ''}${planId === undefined ? '' : `plan ${planId}: \`paydirt apply ${planId}\` carries out exactly this, within this cost\n`}`
}

const shownRecords = 5

function previewText({ records, fields, rows }: NonNullable<RunPlan['preview']>): string {
  const counts = Object.entries(fields)
    .sort(([, a], [, b]) => b - a)
    .map(([field, count]) => `${field} ${count}`)
  const lines = rows
    .slice(0, shownRecords)
    .flatMap(({ record, fields: changes }) => [
      `  ${record}`,
      ...Object.entries(changes).map(
        ([field, { from, to }]) =>
          `    ${field}: ${from === null ? '(blank)' : JSON.stringify(from)} → ${JSON.stringify(to)}`,
      ),
    ])
  return `from answers in the ledger, ${records} records would be filled: ${counts.join(', ')}\n${lines.join('\n')}\n`
}
