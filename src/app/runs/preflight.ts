import type { Connector } from '../../connectors/connector.ts'
import { errorCode } from '../../domain/error-codes.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { Recipe } from '../../domain/planning/recipes.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { noPayment, noService } from '../context/missing-settings.ts'
import { assertReachable } from '../context/assert-reachable.ts'
import { leftOutOfRun, type JudgedRun } from './left-out.ts'
import { aboveCaps } from './price-refusal.ts'

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
  const [refusal] = await startRefusals(context, recipe)
  if (refusal) throw refusal
  await context.openEngine()
  return {} as Prepared
}

/** The same for a run that writes what is known already: neither the service nor a way to pay is asked for. Throws ConfigError. */
export async function prepareWriting(context: Pick<Context, 'openEngine'>): Promise<Prepared> {
  await context.openEngine()
  return {} as Prepared
}

/** Returns why the run of a plan would not begin. Creates nothing in a CRM. */
export async function plannedRefusals(
  context: Pick<Context, 'config' | 'chain' | 'planning'>,
  connector: Connector,
  run: JudgedRun,
): Promise<ConfigError[]> {
  const { recipe } = await leftOutOfRun(context, connector, run, { dryRun: true })
  return startRefusals(context, recipe)
}

/**
 * Returns why a run of this recipe would not begin: every reason, so that all can be mended at once. A run and its plan ask
 * this one function.
 */
async function startRefusals(
  context: Pick<Context, 'config' | 'chain'>,
  recipe: Recipe,
): Promise<ConfigError[]> {
  const { config } = context
  const found = [aboveCaps(config, recipe), ...missingSettings(config)].filter((each) => each !== undefined)
  const addresses = await Promise.all([checkService(context), checkChain(context)])
  return [...found, ...addresses.filter((each) => each !== undefined)]
}

/** The database was checked when it was opened, and Redis is checked when the engine opens. */
async function checkService({ config }: Pick<Context, 'config'>): Promise<ConfigError | undefined> {
  if (config.serviceUrl === undefined) return undefined
  return refusalOf(assertReachable('the data service (PAYDIRT_SERVICE_URL)', config.serviceUrl))
}

async function checkChain({
  config,
  chain,
}: Pick<Context, 'config' | 'chain'>): Promise<ConfigError | undefined> {
  if (config.walletKey === undefined) return undefined
  const expected = Number(config.policy.network.split(':')[1])
  const node = new URL(config.rpcUrl).origin
  let actual: number
  try {
    actual = await chain.chainId()
  } catch (cause) {
    const message = `the chain's RPC at ${node} did not answer; try again later, or set PAYDIRT_RPC_URL to another node`
    return new ConfigError(errorCode.chainUnreachable, message, { cause })
  }
  if (actual === expected) return undefined
  return new ConfigError(
    'wrong_chain',
    `the RPC at ${node} serves chain ${actual}; payments settle on ${expected} (PAYDIRT_RPC_URL)`,
  )
}

async function refusalOf(check: Promise<unknown>): Promise<ConfigError | undefined> {
  try {
    await check
    return undefined
  } catch (error) {
    if (error instanceof ConfigError) return error
    throw error
  }
}

/** Returns what is missing to ask the service and to pay it. */
function missingSettings({
  serviceUrl,
  walletKey,
  apiKey,
}: Pick<Config, 'serviceUrl' | 'walletKey' | 'apiKey'>): ConfigError[] {
  return [
    ...(serviceUrl === undefined ? [noService()] : []),
    ...(walletKey === undefined && apiKey === undefined ? [noPayment()] : []),
  ]
}
