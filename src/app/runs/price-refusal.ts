import type { Connector } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { capsOf, stepPrices } from '../../domain/planning/prices.ts'
import { paidSteps } from '../../domain/planning/recipe-steps.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import type { Config } from '../config/config.ts'
import { leftOutOfRun, type JudgedRun, type LeftOutContext } from './left-out.ts'

/**
 * Returns why a run may not begin at these prices, with the setting that allows it: a step of its recipe, for fields that the
 * account can hold, is known to cost more than its cap. Such a step would be refused for each record after the cheaper steps
 * before it were paid for. Every trigger asks this before its run has a record: commands, plans, schedules, on-demand requests.
 */
export async function priceRefusal(
  context: LeftOutContext & { config: Pick<Config, 'recipes' | 'policy' | 'prices'> },
  connector: Connector,
  run: JudgedRun,
): Promise<ConfigError | undefined> {
  const { config } = context
  // Without fields a recipe has fewer steps, not more. So a recipe that is within its caps needs no call to the CRM.
  if (!aboveCaps(config, config.recipes(run.object, run.recipe))) return undefined
  const { recipe } = await leftOutOfRun(context, connector, run, { dryRun: true })
  return aboveCaps(config, recipe)
}

/** Returns the refusal of a recipe, as if an account could hold all of its fields. */
export function aboveCaps(
  { policy, prices }: Pick<Config, 'policy' | 'prices'>,
  recipe: Recipe,
): ConfigError | undefined {
  const steps = stepPrices(prices, capsOf(policy), paidSteps(recipe))
  const dear = steps.filter(({ isStopped }) => isStopped)
  // When every step is above its cap nothing is paid at all: the challenge itself is refused, and reported.
  if (dear.length === 0 || dear.length === steps.length) return undefined
  const allowed = dear.map(
    ({ step, priceAtomic = 0n }) => `'${step}': '${formatUsd(priceAtomic).replace(/0{1,4}$/, '')}'`,
  )
  return new ConfigError(
    'above_cap',
    `the recipe ${recipe.name} has a step that costs more than the cap of ${formatUsd(policy.maxPriceAtomic)} USD a lookup. To allow it, set in paydirt.config.ts: payment: { maxPricesUsd: { ${allowed.join(', ')} } }`,
  )
}
