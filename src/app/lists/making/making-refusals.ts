import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { ListSettings } from '../../config/lists.ts'
import { rowFitter } from './fit-row.ts'
import { assertMaking, refusalsOf } from './plan-list.ts'

/**
 * Returns the reasons why the CRM would not take the records of a list as things are, in words that say what to do: constants, owner,
 * fields and rights. Asked before anything is bought for the list. Buys and writes nothing.
 */
export async function makingRefusals(
  given: Connector,
  name: string,
  settings: ListSettings,
): Promise<string[]> {
  const [connector, unfit] = await attempt(async () => assertMaking(given, settings, name))
  if (!connector) return unfit
  const [, constants] = await attempt(() => rowFitter(connector, settings, name))
  const { entity, owner } = settings.into
  const [, owners] = await attempt(async () => {
    if (owner === undefined) return
    const found = (await connector.maker.owners(entity, [owner])).get(owner)
    if (found?.isActive) return
    const why = found
      ? `the owner ${owner} cannot own records any more`
      : `${given.name} has no owner ${owner}`
    throw new ConfigError(
      'bad_owner',
      `lists.${name}.into.owner: ${why}. Name the id of a user who is active`,
    )
  })
  return [...constants, ...owners, ...(await refusalsOf(connector, settings))]
}

/** Returns what the work returns, or the ConfigError that it throws as a reason. */
async function attempt<T>(work: () => Promise<T>): Promise<[T | undefined, string[]]> {
  try {
    return [await work(), []]
  } catch (error) {
    if (error instanceof ConfigError) return [undefined, [error.message]]
    throw error
  }
}
