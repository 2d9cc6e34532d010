import { z } from 'zod'
import { connectorNames } from '../../connectors/definitions.ts'
import { atomicCredits } from '../../domain/credits.ts'
import { parseUsd, type Atomic } from '../../domain/money.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { Caps } from '../../pay/budget.ts'
import type { Environment } from './environment.ts'

/** The `budgets` of `paydirt.config.ts`. */
export const budgetsSchema = z.strictObject({
  runUsd: usd.optional(),
  dayUsd: usd.optional(),
  monthUsd: usd.optional(),
  connectorDayUsd: z.partialRecord(z.enum(connectorNames), usd).optional(),
  /** Caps in credits, for direct access by API key. */
  creditsRun: z.number().int().positive().optional(),
  creditsDay: z.number().int().positive().optional(),
})

const defaults = { runUsd: '50', dayUsd: '100' }

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
