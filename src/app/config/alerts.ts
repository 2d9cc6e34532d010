import { z } from 'zod'
import type { AlertRules } from '../../domain/alerts.ts'
import { parseUsd } from '../../domain/money.ts'
import { setting } from '../../domain/setting.ts'
import { usd } from '../../domain/usd-schema.ts'
import type { Environment } from './environment.ts'

/** The conditions that send alerts. The environment says where to: PAYDIRT_ALERT_URL, PAYDIRT_ALERT_SECRET. */
export const alertsSchema = z.strictObject({
  walletBelowUsd: setting(usd, {
    means: 'alert when the wallet holds less',
    default: '5',
    example: '20',
  }),
  errorShare: setting(z.number().gt(0).max(1), {
    means: "alert when this share of an hour's records failed",
    default: 0.2,
    example: 0.05,
  }),
  errorMinimum: setting(z.number().int().positive(), {
    means: 'only with at least this many records in the hour',
    default: 20,
    example: 100,
  }),
  quietHours: setting(z.number().positive().max(720), {
    means: 'alert when work was due for so many hours and nothing was written',
    default: 6,
    example: 12,
  }),
  reconcileEveryHours: setting(z.number().min(0).max(720), {
    means: 'how often the ledger is compared with the chain; 0: only on request',
    default: 24,
    example: 6,
  }),
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
