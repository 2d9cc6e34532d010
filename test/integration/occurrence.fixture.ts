import type { Database } from '../../src/store/database/database.ts'
import { insertOccurrence } from '../../src/store/runs/schedule-occurrences.ts'

/** Adds an occurrence of a schedule that syncs the companies of HubSpot, planned for now. Returns its id. */
export function addOccurrence(
  db: Database,
  schedule: string,
  now: () => Date,
  runId?: string,
  more: { entity?: string; recipe?: string } = {},
): Promise<bigint> {
  return insertOccurrence(
    db,
    {
      schedule,
      connector: 'hubspot',
      entity: 'companies',
      recipe: null,
      limit: null,
      refresh: false,
      cause: 'cron',
      plannedAt: now(),
      startBy: null,
      stopAt: null,
      runId,
      ...more,
    },
    now,
  )
}
