import { ConfigError, InputError } from '../../domain/errors.ts'
import { parseUsd, type Atomic } from '../../domain/money.ts'

/** Returns the most that a run may spend: as given, else as the settings say. Throws where neither names it. */
export function budgetOf(place: string, own: Atomic | undefined, given: string | undefined): Atomic {
  if (given !== undefined)
    try {
      return parseUsd(given)
    } catch {
      throw new InputError('bad_amount', `--budget: "${given}" is not an amount in USD such as 2.50`)
    }
  if (own !== undefined) return own
  throw new ConfigError(
    'no_budget',
    `name the most that this may spend with --budget, or as ${place}.budgetUsd in paydirt.config.ts`,
  )
}
