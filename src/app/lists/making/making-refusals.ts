import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { ListSettings } from '../../config/lists.ts'
import { rowFitter } from './fit-row.ts'
import { assertOwners, knownOwners } from './owners.ts'
import { assertMaking, refusalsOf } from './may-make.ts'
import { companyEntityOf } from './row-companies.ts'

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
  const { entity, associate = true } = settings.into
  const [, owners] = await attempt(() => assertOwners(knownOwners(connector, entity), settings, name))
  const companies = associate === true ? companyEntityOf(connector, settings) : undefined
  const fields = await Promise.all(
    [entity, ...(companies === undefined ? [] : [companies])].map((each) => refusalsOf(connector, each)),
  )
  return [...constants, ...owners, ...new Set(fields.flat())]
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
