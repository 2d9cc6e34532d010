import type { CostBounds } from '../../domain/forecast/costs.ts'
import type { StepExpected } from '../../domain/forecast/expected.ts'
import type { Experience } from '../../domain/forecast/experience.ts'
import { withinLimits, type Amounts, type Limit } from '../../domain/forecast/limits.ts'
import type { ConfigError } from '../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../domain/money.ts'
import type { FactSlot } from '../../domain/planning/planner.ts'
import { stepPrices, type PriceCaps } from '../../domain/planning/prices.ts'
import type { PriceTable } from '../../domain/planning/step.ts'
import type { SpendLimits } from '../money/spend-limits.ts'

/** Amounts in USD, as decimal strings with six places. */
interface Range {
  low: string
  expected: string
  high: string
}

/** One step of a plan. Its numbers are those without any cap but that of a price that is not known. */
export interface PlanStep {
  step: FactSlot
  /** The price of one lookup; null where only a challenge states it. */
  price: string | null
  /** The most that may be paid for one lookup. */
  cap: string
  /** True where the price is above its cap, so that it is refused. */
  stopped: boolean
  lookups: { low: number; expected: number; high: number }
  cost: Range
  /** The paid answers of this step that the expectation is drawn from, and how many of them found their subject. */
  seen: { answers: number; found: number }
}

interface PlanLimit {
  name: Limit['name']
  /** null: there is no cap, or the wallet could not be read. */
  cap: string | null
  used: string
  left: string | null
  /** True where less is left than the run could spend. */
  stops: boolean
}

export interface PlanCost {
  /** The cost of a run that begins now, until it ends or is parked. */
  cost: Range & { currency: 'USD' }
  /** The same without budgets, wallet and caps of known prices. */
  uncapped: Range
  steps: PlanStep[]
  limits: PlanLimit[]
  wallet: { address: string; balance: string | null } | null
  /** True when a run would begin; the reasons are those of the run's own checks. */
  begins: boolean
  refusals: { code: string; message: string }[]
}

export interface PlanCostFacts {
  bounds: CostBounds
  expected: ReadonlyMap<FactSlot, StepExpected>
  experience: Experience
  prices: PriceTable
  caps: PriceCaps
  limits: SpendLimits
  refusals: readonly ConfigError[]
  /** The steps that the run may take. */
  steps: readonly FactSlot[]
}

/** Returns what a plan costs, step by step, and what stops it. */
export function planCost(facts: PlanCostFacts): PlanCost {
  const { bounds, expected, experience, refusals } = facts
  const { limits, wallet } = facts.limits
  const named = facts.steps.filter((slot) => bounds.highBySlot.has(slot))
  const priced = stepPrices(facts.prices, facts.caps, named)
  const expectedOf = (slot: FactSlot) => inside(bounds, expected.get(slot), slot)
  const sum = priced.reduce((total, { step }) => total + expectedOf(step).atomic, 0n)
  const wanted: Amounts = {
    lowAtomic: bounds.lowAtomic,
    expectedAtomic: clamp(sum, bounds.lowAtomic, bounds.highAtomic),
    highAtomic: bounds.highAtomic,
  }
  const begins = refusals.length === 0
  const { stoppedBy, ...spent } = withinLimits(
    begins ? withoutStopped(facts, wanted) : { lowAtomic: 0n, expectedAtomic: 0n, highAtomic: 0n },
    limits,
    priced.map(({ priceAtomic, capAtomic }) => priceAtomic ?? capAtomic),
  )
  const wouldStop = withinLimits(wanted, limits, []).stoppedBy
  return {
    cost: { currency: 'USD', ...rangeOf(spent) },
    uncapped: rangeOf(wanted),
    steps: priced.map(({ step, priceAtomic, capAtomic, isStopped }) => {
      const low = bounds.lowBySlot.get(step)
      const high = bounds.highBySlot.get(step)
      const mean = expectedOf(step)
      return {
        step,
        price: priceAtomic === undefined ? null : formatUsd(priceAtomic),
        cap: formatUsd(capAtomic),
        stopped: isStopped,
        lookups: { low: low?.count ?? 0, expected: Math.round(mean.count * 10) / 10, high: high?.count ?? 0 },
        cost: rangeOf({
          lowAtomic: low?.atomic ?? 0n,
          expectedAtomic: mean.atomic,
          highAtomic: high?.atomic ?? 0n,
        }),
        seen: experience.seen(step),
      }
    }),
    limits: limits.map(({ name, capAtomic, usedAtomic, leftAtomic }) => ({
      name,
      cap: capAtomic === undefined ? null : formatUsd(capAtomic),
      used: formatUsd(usedAtomic),
      left: leftAtomic === undefined ? null : formatUsd(leftAtomic),
      stops: stoppedBy.includes(name) || wouldStop.includes(name),
    })),
    wallet: wallet
      ? {
          address: wallet.address,
          balance: wallet.balanceAtomic === undefined ? null : formatUsd(wallet.balanceAtomic),
        }
      : null,
    begins,
    refusals: refusals.map(({ code, message }) => ({ code, message })),
  }
}

/**
 * A run with steps above their caps begins only when that is true of all of them. Nothing is then paid at these prices; a
 * challenge over less than its cap would be.
 */
function withoutStopped({ bounds, prices, caps }: PlanCostFacts, wanted: Amounts): Amounts {
  const steps = stepPrices(prices, caps, [...bounds.highBySlot.keys()])
  if (!steps.some(({ isStopped }) => isStopped)) return wanted
  const highAtomic = steps.reduce((sum, { step, capAtomic, isStopped }) => {
    const { count, atomic } = bounds.highBySlot.get(step) ?? { count: 0, atomic: 0n }
    return sum + (isStopped ? BigInt(count) * capAtomic : atomic)
  }, 0n)
  return { lowAtomic: 0n, expectedAtomic: 0n, highAtomic }
}

/** An average of draws is brought between the bounds, which are exact. */
function inside(bounds: CostBounds, mean: StepExpected | undefined, slot: FactSlot) {
  const low = bounds.lowBySlot.get(slot) ?? { count: 0, atomic: 0n }
  const high = bounds.highBySlot.get(slot) ?? { count: 0, atomic: 0n }
  return {
    count: Math.min(Math.max(mean?.count ?? 0, low.count), high.count),
    atomic: clamp(BigInt(Math.round(mean?.atomic ?? 0)), low.atomic, high.atomic),
  }
}

function clamp(value: Atomic, low: Atomic, high: Atomic): Atomic {
  return value < low ? low : value > high ? high : value
}

function rangeOf({ lowAtomic, expectedAtomic, highAtomic }: Amounts): Range {
  return { low: formatUsd(lowAtomic), expected: formatUsd(expectedAtomic), high: formatUsd(highAtomic) }
}
