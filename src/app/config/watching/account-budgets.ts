import { ConfigError } from '../../../domain/errors.ts'
import { formatUsd, type Atomic } from '../../../domain/money.ts'
import { searches } from '../../../domain/signals/searches.ts'
import { signalTypes } from '../../../domain/signals/signal.ts'
import type { ChampionsConfig } from './champions.ts'
import type { SignalsConfig } from './signals.ts'

const budgets = ['budgetUsd', 'budgetMonthUsd'] as const

/**
 * Throws ConfigError for a budget of a pipeline that is below the price of one account: one request of each type, at the most that it may
 * cost. It could never be watched whole. Where the settings name no such price, the run decides.
 */
export function assertAccountBudgets(
  signals: SignalsConfig = {},
  maxPrices: Readonly<Partial<Record<string, Atomic | undefined>>> = {},
): void {
  for (const [name, settings] of Object.entries(signals)) {
    const { types = signalTypes } = settings
    const prices = [...new Set(types)].map((type) => maxPrices[searches[type]])
    if (prices.includes(undefined)) continue
    const price = prices.reduce<Atomic>((sum, each) => sum + (each ?? 0n), 0n)
    for (const key of budgets) {
      const budget = settings[key]
      if (budget !== undefined && budget < price)
        throw new ConfigError(
          'budget_below_account',
          `signals.${name}.${key}: ${formatUsd(budget)} USD is below what one account may cost: ${formatUsd(price)} (${types.map((type) => searches[type]).join(', ')} by payment.maxPricesUsd). Raise it, or watch fewer types`,
        )
    }
  }
}

/** The same for champions: one lookup of a person must fit into the budget. */
export function assertChampionBudgets(
  champions: ChampionsConfig = {},
  maxPrices: Readonly<Partial<Record<string, Atomic | undefined>>> = {},
): void {
  const price = maxPrices['person.profile']
  if (price === undefined) return
  for (const [name, settings] of Object.entries(champions))
    for (const key of budgets) {
      const budget = settings[key]
      if (budget !== undefined && budget < price)
        throw new ConfigError(
          'budget_below_account',
          `champions.${name}.${key}: ${formatUsd(budget)} USD is below what one person may cost: ${formatUsd(price)} (person.profile by payment.maxPricesUsd). Raise it`,
        )
    }
}
