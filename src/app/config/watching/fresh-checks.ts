import { ConfigError } from '../../../domain/errors.ts'
import { freshUntil, type Windows } from '../../../domain/freshness.ts'
import { defaultDays, reachDays } from '../../../domain/signals/due.ts'
import { searches } from '../../../domain/signals/searches.ts'
import { signalTypes } from '../../../domain/signals/signal.ts'
import type { SignalsConfig } from './signals.ts'

const dayMs = 86_400_000

/**
 * Throws ConfigError where an answer stays fresh for longer than the days of a check that asks the same each time: the check would be made
 * by the old answer, and what has moved since would not be seen. Questions with a day in them are others each time.
 */
export function assertFreshChecks(signals: SignalsConfig = {}, windows: Windows): void {
  for (const [name, { types = signalTypes, days = {} }] of Object.entries(signals))
    for (const type of types) {
      if (reachDays[type] !== undefined || type === 'advertisement') continue
      const every = days[type] ?? defaultDays[type]
      const operation = searches[type]
      const freshDays = freshUntil(operation, 'found', new Date(0), windows).getTime() / dayMs
      if (freshDays > every)
        throw new ConfigError(
          'stale_checks',
          `signals.${name}.days.${type}: answers of ${operation} are fresh for ${freshDays} days (freshness.operations), longer than the ${every} after which it is asked for again: they would be taken for new ones`,
        )
    }
}
