import { z } from 'zod'
import type { AlertRules } from '../../domain/alerts.ts'
import { parseUsd } from '../../domain/money.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { Environment } from './environment.ts'

/** When somebody is told. Where to stands in the environment: PAYDIRT_ALERT_URL, PAYDIRT_ALERT_SECRET. */
export const alertsSchema = z.strictObject({
  /** The wallet holds less than this. */
  walletBelowUsd: usd.optional(),
  /** So large a share of the records of an hour failed, of at least `errorMinimum`. */
  errorShare: z.number().gt(0).max(1).optional(),
  errorMinimum: z.number().int().positive().optional(),
  /** So long nothing was written while work was due. */
  quietHours: z.number().positive().max(720).optional(),
  /** How often the ledger is held against the chain. 0: never by itself. */
  reconcileEveryHours: z.number().min(0).max(720).optional(),
})

export interface AlertConfig {
  rules: AlertRules
  reconcileEveryHours: number
  /** Absent: alerts go to the log alone. */
  webhook: { url: string; secret: string | undefined } | undefined
}

export function alertConfig(env: Environment, file: z.output<typeof alertsSchema> = {}): AlertConfig {
  const url = env.PAYDIRT_ALERT_URL
  return {
    rules: {
      walletBelowAtomic: file.walletBelowUsd ?? parseUsd('5'),
      errorShare: file.errorShare ?? 0.2,
      errorMinimum: file.errorMinimum ?? 20,
      quietHours: file.quietHours ?? 6,
    },
    reconcileEveryHours: file.reconcileEveryHours ?? 24,
    webhook: url === undefined ? undefined : { url, secret: env.PAYDIRT_ALERT_SECRET },
  }
}
