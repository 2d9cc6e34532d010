import { ConfigError } from '../../domain/errors.ts'
import type { Occurrence, OccurrenceReport } from '../../store/runs/schedule-occurrences.ts'
import { handOverReport } from '../../store/messages/scheduled-reports.ts'
import { reportEntity } from '../../domain/signals/scheduled-report.ts'
import type { Config } from '../config/config.ts'
import type { Schedule } from '../config/schedules.ts'
import type { Context } from '../context/context.ts'

/** True for the occurrence of a report, false for that of a sync or a list. */
export function isOfReport(occurrence: Occurrence): occurrence is Occurrence & { report: OccurrenceReport } {
  return occurrence.report !== undefined
}

/**
 * Hands the report of an occurrence to the alerts, whose deliveries compose and send it. The message and the end of the occurrence are one
 * transaction, which only the holder of the lease can do: a process that dies before it leaves the occurrence to the next one, and after
 * it there is nothing left to do. So each scheduled time has one message.
 */
export async function runReportOccurrence(
  { database, now }: Pick<Context, 'database' | 'now'>,
  holder: string,
  occurrence: Occurrence & { report: OccurrenceReport },
): Promise<void> {
  await handOverReport(database.db, { occurrence, holder, at: now() })
}

/** Returns the entity of a schedule of reports. Throws ConfigError where no webhook takes them. */
export function assertReported({ alerts }: Pick<Config, 'alerts'>, { signalsReport }: Schedule): string {
  if (alerts.webhook) return reportEntity
  throw new ConfigError(
    'no_webhook',
    `the report of ${signalsReport} goes to the alert webhook: set PAYDIRT_ALERT_URL`,
  )
}
