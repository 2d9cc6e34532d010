import type { LookupKey } from '../keys.ts'
import { formatUsd, type Atomic } from '../money.ts'
import { nextStep, priceOf, slotOf, spentOn, type PlanContext } from './planner.ts'
import { slotRow } from '../operations.ts'
import type { Facts, PlannedRecord, Step } from './step.ts'
import type { ClosedFields, ClosedReason } from './could-write.ts'
import type { Recipe } from './recipes.ts'
import { closedText } from './wanted-fields.ts'

export interface Explanation {
  step: Step
  /** The next step, in words. */
  next: string
  why: string
  /** The most that the next step costs: 0 for a free one, undefined where the price is not known. */
  costAtomic: Atomic | undefined
  /** The amount settled for the record so far. */
  spentAtomic: Atomic
  /** The fields of the recipe that could not be written, and why: nothing is bought for them. */
  leftOut: { field: string; why: ClosedReason }[]
  /** The same as sentences. They name fields that were found, but no value of the record. */
  lines: string[]
}

/** The cost of one record's lookups in all runs, from the ledger. */
export interface RecordSpend {
  settledAtomic: Atomic
  inDoubtAtomic: Atomic
  lostAtomic: Atomic
  /** Settled by direct access, in millionths of a credit. */
  creditsAtomic: bigint
}

/** The write that would follow, by the decision of the write itself. */
export interface ExpectedWrite {
  fields: readonly string[]
  /** The reason why nothing is written. */
  reason: string | undefined
  /** The values that do not fit their property, by field, in words. */
  leftOut: Readonly<Record<string, string>>
}

/**
 * Explains which step the planner would take for a record, why, and at what cost. The facts say what a run would count
 * against a ceiling, where a fresh answer costs nothing; only the ledger says what the record has cost.
 */
export function explainStep(
  record: PlannedRecord,
  recipe: Recipe,
  facts: Facts,
  context: PlanContext & { spend?: RecordSpend; write?: ExpectedWrite } = {},
): Explanation {
  const step = nextStep(record, recipe, facts, context)
  const spentAtomic = context.spend?.settledAtomic ?? spentOn(facts, context.prices)
  const costAtomic = step.kind === 'lookup' ? priceOf(step.lookup.key, context) : 0n
  const { closed = {} } = record
  const { next, why } = wordsOf(step, closed, context.write)
  const leftOut = recipe.fields.filter((field) => Object.hasOwn(closed, field))
  const lines = [
    `Next (recipe ${recipe.name}): ${next}.`,
    `Why: ${why}.`,
    ...leftOutText(context.write),
    ...(step.kind === 'lookup' ? [`Cost: ${costText(step.lookup.key, costAtomic, context)}.`] : []),
    `Spent on this record so far: ${spentText(spentAtomic, context.spend)}.`,
    ...ceilingText(recipe),
    ...(leftOut.length > 0 ? [`Nothing is bought for fields ${closedText(closed, leftOut)}.`] : []),
  ]
  return {
    leftOut: leftOut.map((field) => ({ field, why: closed[field] as ClosedReason })),
    step,
    next,
    why,
    costAtomic,
    spentAtomic,
    lines,
  }
}

function wordsOf(
  step: Step,
  closed: ClosedFields,
  write: ExpectedWrite | undefined,
): { next: string; why: string } {
  switch (step.kind) {
    case 'lookup': {
      const slot = slotOf(step.lookup.key)
      return { next: `${slotRow(slot).verb} (${slot})`, why: step.why }
    }
    case 'write': {
      // The field policy leaves what is there already as it is.
      const fields =
        write?.fields ?? Object.keys(step.values).filter((field) => !Object.hasOwn(closed, field))
      const nothing = write?.reason ?? 'no value that is known may be written into it'
      return {
        next:
          fields.length === 0
            ? `write nothing: ${nothing}`
            : `write ${fields.length} ${fields.length === 1 ? 'field' : 'fields'} by the field policy (${fields.join(', ')})`,
        why: step.reason ?? 'no step is left that the recipe wants and may buy',
      }
    }
    case 'stop':
      return { next: `stop; the record ends as ${step.status}`, why: step.reason }
  }
}

function leftOutText(write: ExpectedWrite | undefined): string[] {
  const named = Object.entries(write?.leftOut ?? {}).map(([field, words]) => `${field} (${words})`)
  return named.length === 0 || write?.fields.length === 0 ? [] : [`Left out: ${named.join(', ')}.`]
}

function costText(key: LookupKey, cost: Atomic | undefined, { isFresh }: PlanContext): string {
  if (isFresh?.(key)) return 'nothing, the ledger has a fresh answer'
  if (cost === undefined) return 'not known in advance'
  if (cost === 0n) return 'nothing'
  return `at most ${formatUsd(cost)} USD${slotRow(slotOf(key)).isChargedWhenFound ? ', nothing when nothing is found' : ''}`
}

function ceilingText({ priceCeilingAtomic }: Recipe): string[] {
  return priceCeilingAtomic === undefined
    ? []
    : [
        `A run may spend at most ${formatUsd(priceCeilingAtomic)} USD on it; fresh answers of the ledger count as nothing.`,
      ]
}

function spentText(settledAtomic: Atomic, spend: RecordSpend | undefined): string {
  const { inDoubtAtomic = 0n, lostAtomic = 0n, creditsAtomic = 0n } = spend ?? {}
  return [
    `${formatUsd(settledAtomic)} USD`,
    ...(creditsAtomic > 0n ? [`${formatUsd(creditsAtomic)} credits`] : []),
    ...(inDoubtAtomic > 0n ? [`${formatUsd(inDoubtAtomic)} USD in doubt`] : []),
    ...(lostAtomic > 0n ? [`${formatUsd(lostAtomic)} USD lost`] : []),
  ].join(', ')
}
