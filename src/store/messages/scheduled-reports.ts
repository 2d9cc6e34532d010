import { reportCondition, reportSubject } from '../../domain/signals/scheduled-report.ts'
import type { Database } from '../database/database.ts'
import type { Occurrence, OccurrenceReport } from '../runs/schedule-occurrences.ts'

/**
 * Ends the occurrence of a report and stores the message of it, in one transaction: a holder that has lost its lease does neither. The
 * message is an alert that has ended with its beginning, so that no page shows it as standing. It holds no text of an account: the report
 * is composed when it is sent, and what was forgotten until then is not in it.
 */
export async function handOverReport(
  db: Database,
  {
    occurrence: { id, plannedAt, report },
    holder,
    at,
  }: { occurrence: Occurrence & { report: OccurrenceReport }; holder: string; at: Date },
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('schedule_turns')
      .set({ state: 'handed_over', reason: null, holder: null, lease_until: null, changed_at: at })
      .where('id', '=', id)
      .where('holder', '=', holder)
      .where('state', '=', 'scanning')
      .executeTakeFirst()
    if (numUpdatedRows === 0n) return false
    const { id: alert } = await tx
      .insertInto('alerts')
      .values({
        condition: reportCondition,
        subject: reportSubject({ ...report, plannedAt }),
        severity: 'warning',
        message: `the report of ${report.pipeline}`,
        raised_at: at,
        ended_at: at,
        ended_message: 'it was handed over',
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    await tx.insertInto('alert_deliveries').values({ alert_id: alert, kind: 'raised', due_at: at }).execute()
    return true
  })
}
