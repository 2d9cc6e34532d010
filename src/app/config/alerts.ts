import { z } from 'zod'
import type { AlertRules } from '../../domain/alerts.ts'
import { parseUsd } from '../../domain/money.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { Environment } from './environment.ts'

/** The conditions that send alerts. The environment says where to: PAYDIRT_ALERT_URL, PAYDIRT_ALERT_SECRET. */
export const alertsSchema = z.strictObject({
  /** Alert when the wallet holds less than this. */
  walletBelowUsd: usd.optional(),
  /** Alert when this share of an hour's records failed, of at least `errorMinimum` records. */
  errorShare: z.number().gt(0).max(1).optional(),
  errorMinimum: z.number().int().positive().optional(),
  /** Alert when nothing was written for so long while work was due. */
  quietHours: z.number().positive().max(720).optional(),
  /** How often the ledger is compared with the chain. 0: only on request. */
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
