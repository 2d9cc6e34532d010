import type { Connector } from '../../connectors/connector.ts'
import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import { capsOf, stepPrices } from '../../domain/planning/prices.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import { paidSteps } from '../../domain/planning/recipe-steps.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { assertReachable } from '../context/assert-reachable.ts'
import { leftOutOfRun, type JudgedRun } from './left-out.ts'

/** Proof that a run may be opened: `prepareStart` has tried what can stop it. */
export type Prepared = { readonly __brand: 'Prepared' }

/**
 * Tries everything that can stop a run before its first record, and returns its proof: the caps, the addresses, and the
 * settings to pay with. Called before the run is opened, so that a failed start leaves no run behind. Throws ConfigError.
 */
export async function prepareStart(
  context: Context,
  connector: Connector,
  run: JudgedRun,
  onNotice?: ((text: string) => void) | undefined,
): Promise<Prepared> {
  const { recipe, notice } = await leftOutOfRun(context, connector, run, { dryRun: false })
  if (notice !== undefined) onNotice?.(notice)
  refuseAboveCaps(context.config, recipe)
  await preflight(context)
  await context.openEngine()
  return {} as Prepared
}

/**
 * Checks that each address that a run needs can be reached, before anything begins. The database was checked when it was
 * opened, and Redis is checked when the engine opens. Throws ConfigError naming the address that did not answer.
 */
async function preflight({ config, chain }: Pick<Context, 'config' | 'chain'>): Promise<void> {
  if (config.serviceUrl !== undefined)
    await assertReachable('the data service (PAYDIRT_SERVICE_URL)', config.serviceUrl)
  if (config.walletKey === undefined) return
  const expected = Number(config.policy.network.split(':')[1])
  const node = new URL(config.rpcUrl).origin
  const actual = await chain.chainId().catch((error: unknown) => {
    throw new ConfigError(
      errorCode.chainUnreachable,
      `the chain's RPC at ${node} did not answer (PAYDIRT_RPC_URL)`,
      { cause: error },
    )
  })
  if (actual !== expected) {
    throw new ConfigError(
      'wrong_chain',
      `the RPC at ${node} serves chain ${actual}; payments settle on ${expected} (PAYDIRT_RPC_URL)`,
    )
  }
}

/**
 * Throws ConfigError, with the setting that allows it, when a step of the recipe is known to cost more than its cap. Such a
 * step would be refused for each record after the cheaper steps before it were paid for.
 */
export function refuseAboveCaps({ policy, prices }: Pick<Config, 'policy' | 'prices'>, recipe: Recipe): void {
  const steps = stepPrices(prices, capsOf(policy), paidSteps(recipe))
  const dear = steps.filter(({ isStopped }) => isStopped)
  // When every step is above its cap nothing is paid at all: the challenge itself is refused, and reported.
  if (dear.length === 0 || dear.length === steps.length) return
  const allowed = dear.map(
    ({ step, priceAtomic = 0n }) => `'${step}': '${formatUsd(priceAtomic).replace(/0{1,4}$/, '')}'`,
  )
  throw new ConfigError(
    'above_cap',
    `the recipe ${recipe.name} has a step that costs more than the cap of ${formatUsd(policy.maxPriceAtomic)} USD a lookup. To allow it, set in paydirt.config.ts: payment: { maxPricesUsd: { ${allowed.join(', ')} } }`,
  )
}
