import type { Forecast } from '../../domain/planning/forecast.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'

/** Sums up the cost of a plan, record by record. */
export interface Costs {
  add(cost: Forecast): void
  sum(): { lowAtomic: Atomic; highAtomic: Atomic }
}

/**
 * Each lookup counts once, also when it serves several records. A price ceiling applies to each record: records that would
 * buy the same lookups count once, all others separately.
 */
export function createCosts({ priceCeilingAtomic }: Recipe): Costs {
  const sure = new Map<string, Atomic>()
  const possible = new Map<string, Atomic>()
  const within = new Map<string, Atomic>()
  return {
    add(cost) {
      for (const [name, price] of cost.sure) sure.set(name, price)
      for (const [name, price] of cost.possible) possible.set(name, price)
      if (priceCeilingAtomic !== undefined) within.set([...cost.possible.keys()].join('\n'), cost.highAtomic)
    },
    sum() {
      const lowAtomic = total(sure)
      const all = total(possible)
      if (priceCeilingAtomic === undefined) return { lowAtomic, highAtomic: all }
      const bounded = total(within)
      return { lowAtomic, highAtomic: bounded < all ? bounded : all }
    },
  }
}

function total(amounts: ReadonlyMap<string, Atomic>): Atomic {
  return [...amounts.values()].reduce((sum, amount) => sum + amount, 0n)
}
