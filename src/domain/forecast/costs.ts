import type { Atomic } from '../money.ts'
import type { Recipe } from '../planning/recipes.ts'
import type { FactSlot } from '../planning/step.ts'
import type { Forecast, Purchase } from './forecast.ts'

/** The number and the cost of a step's lookups. */
interface StepTotal {
  count: number
  atomic: Atomic
}

export interface CostBounds {
  lowAtomic: Atomic
  highAtomic: Atomic
  /** By step; a price ceiling may keep the run from buying the highest of all steps together. */
  lowBySlot: ReadonlyMap<FactSlot, StepTotal>
  highBySlot: ReadonlyMap<FactSlot, StepTotal>
}

/** Sums up the cost of a plan, record by record. */
export interface Costs {
  add(cost: Forecast): void
  sum(): CostBounds
}

/**
 * Each lookup counts once, also when it serves several records. A price ceiling applies to each record: records that would
 * buy the same lookups count once, all others separately.
 */
export function createCosts({ priceCeilingAtomic }: Recipe): Costs {
  const sure = new Map<string, Purchase>()
  const possible = new Map<string, Purchase>()
  const within = new Map<string, Atomic>()
  return {
    add(cost) {
      for (const [name, purchase] of cost.sure) sure.set(name, purchase)
      for (const [name, purchase] of cost.possible) possible.set(name, purchase)
      if (priceCeilingAtomic !== undefined) within.set([...cost.possible.keys()].join('\n'), cost.highAtomic)
    },
    sum() {
      const lowBySlot = bySlot(sure.values())
      const highBySlot = bySlot(possible.values())
      const all = total(highBySlot)
      const bounded = [...within.values()].reduce((sum, amount) => sum + amount, 0n)
      const isBound = priceCeilingAtomic !== undefined && bounded < all
      return { lowAtomic: total(lowBySlot), highAtomic: isBound ? bounded : all, lowBySlot, highBySlot }
    },
  }
}

function bySlot(purchases: Iterable<Purchase>): Map<FactSlot, StepTotal> {
  const totals = new Map<FactSlot, StepTotal>()
  for (const { slot, atomic } of purchases) {
    const before = totals.get(slot)
    totals.set(slot, { count: (before?.count ?? 0) + 1, atomic: (before?.atomic ?? 0n) + atomic })
  }
  return totals
}

function total(totals: ReadonlyMap<FactSlot, StepTotal>): Atomic {
  return [...totals.values()].reduce((sum, { atomic }) => sum + atomic, 0n)
}
