import type { LookupKey } from '../keys.ts'
import { formatUsd, type Atomic } from '../money.ts'
import { nextStep, priceOf, slotOf, spentOn, type PlanContext } from './planner.ts'
import { slotRow } from '../operations.ts'
import type { Facts, PlannedRecord, Step } from './step.ts'
import type { Recipe } from './recipes.ts'

export interface Explanation {
  step: Step
  /** What comes next, in words. */
  next: string
  why: string
  /** At most; undefined where the price is not known. 0 for what costs nothing. */
  costAtomic: Atomic | undefined
  /** What has been spent on the record so far. */
  spentAtomic: Atomic
  /** The same as sentences for a person. Values of the record are not in them, but of fields found there are the names. */
  lines: string[]
}

/** Which step the planner would take for a record, why, and what it would cost. */
export function explainStep(
  record: PlannedRecord,
  recipe: Recipe,
  facts: Facts,
  context: PlanContext = {},
): Explanation {
  const step = nextStep(record, recipe, facts, context)
  const spentAtomic = spentOn(facts, context.prices)
  const costAtomic = step.kind === 'lookup' ? priceOf(step.lookup.key, context) : 0n
  const { next, why } = told(step)
  const lines = [
    `Next (recipe ${recipe.name}): ${next}.`,
    `Why: ${why}.`,
    ...(step.kind === 'lookup' ? [`Cost: ${costText(step.lookup.key, costAtomic, context)}.`] : []),
    `Spent on this record so far: ${formatUsd(spentAtomic)} USD${ceilingText(recipe)}.`,
  ]
  return { step, next, why, costAtomic, spentAtomic, lines }
}

function told(step: Step): { next: string; why: string } {
  switch (step.kind) {
    case 'lookup': {
      const slot = slotOf(step.lookup.key)
      return { next: `${slotRow(slot).verb} (${slot})`, why: step.why }
    }
    case 'write': {
      const fields = Object.keys(step.values)
      return {
        next: `write ${fields.length} ${fields.length === 1 ? 'field' : 'fields'} by the field policy (${fields.join(', ')})`,
        why: step.reason ?? 'nothing that the recipe wants and may buy is left to ask',
      }
    }
    case 'stop':
      return { next: `stop; the record ends as ${step.status}`, why: step.reason }
  }
}

function costText(key: LookupKey, cost: Atomic | undefined, { isFresh }: PlanContext): string {
  if (isFresh?.(key)) return 'nothing, a fresh answer is in the ledger'
  if (cost === undefined) return 'not known before it is asked for'
  if (cost === 0n) return 'nothing'
  return `at most ${formatUsd(cost)} USD${slotRow(slotOf(key)).isChargedWhenFound ? ', nothing when nothing is found' : ''}`
}

function ceilingText({ priceCeilingAtomic }: Recipe): string {
  return priceCeilingAtomic === undefined ? '' : ` of at most ${formatUsd(priceCeilingAtomic)} USD`
}
