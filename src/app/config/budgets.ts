import { z } from 'zod'
import { connectorNames } from '../../connectors/definitions.ts'
import { atomicCredits } from '../../domain/credits.ts'
import { parseUsd, type Atomic } from '../../domain/money.ts'
import { setting } from '../../domain/setting.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { Caps } from '../../pay/limits/budget.ts'
import type { Environment } from './environment.ts'

const defaults = { runUsd: '50', dayUsd: '100' }

/** The `budgets` of `paydirt.config.ts`. */
export const budgetsSchema = z.strictObject({
  runUsd: setting(usd, { means: 'cap of a run', default: defaults.runUsd, example: '20' }),
  dayUsd: setting(usd, { means: 'cap of a day (UTC)', default: defaults.dayUsd, example: '60' }),
  monthUsd: setting(usd, { means: 'cap of a month (UTC)', defaultText: 'no cap', example: '900' }),
  connectorDayUsd: setting(z.partialRecord(z.enum(connectorNames), usd), {
    means: 'cap of a day for each connector',
    defaultText: 'no cap',
    example: { csv: '10' },
  }),
  creditsRun: setting(z.number().int().positive(), {
    means: 'cap of a run in credits, for access by API key',
    defaultText: 'no cap',
    example: 2000,
  }),
  creditsDay: setting(z.number().int().positive(), {
    means: 'cap of a day in credits',
    defaultText: 'no cap',
    example: 6000,
  }),
})

export function capsConfig(
  env: Environment,
  file: z.output<typeof budgetsSchema> = {},
): Caps & { runAtomic: Atomic; dayAtomic: Atomic } {
  return {
    runAtomic: env.PAYDIRT_BUDGET_RUN_USD ?? file.runUsd ?? parseUsd(defaults.runUsd),
    dayAtomic: env.PAYDIRT_BUDGET_DAY_USD ?? file.dayUsd ?? parseUsd(defaults.dayUsd),
    monthAtomic: file.monthUsd,
    connectorDayAtomic: file.connectorDayUsd,
    creditsRun: file.creditsRun === undefined ? undefined : atomicCredits(file.creditsRun),
    creditsDay: file.creditsDay === undefined ? undefined : atomicCredits(file.creditsDay),
  }
}
