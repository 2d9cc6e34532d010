import type { Forecast } from '../../domain/planning/forecast.ts'
import type { Atomic } from '../../domain/money.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'

/** What a plan comes to, record by record. */
export interface Costs {
  add(foreseen: Forecast): void
  sum(): { lowAtomic: Atomic; highAtomic: Atomic }
}

/**
 * Each lookup counts once, however many records it serves. A ceiling is each record's own: there records that would buy
 * the same count once, and others each by themselves.
 */
export function createCosts({ priceCeilingAtomic }: Recipe): Costs {
  const sure = new Map<string, Atomic>()
  const possible = new Map<string, Atomic>()
  const within = new Map<string, Atomic>()
  return {
    add(foreseen) {
      for (const [name, price] of foreseen.sure) sure.set(name, price)
      for (const [name, price] of foreseen.possible) possible.set(name, price)
      if (priceCeilingAtomic !== undefined)
        within.set([...foreseen.possible.keys()].join('\n'), foreseen.highAtomic)
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
