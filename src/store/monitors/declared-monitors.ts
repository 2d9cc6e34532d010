import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** A monitor of the settings that stands at the service. */
export interface KnownMonitor {
  name: string
  monitorId: string
  since: Date
  comparedAt: Date | null
  differs: boolean | null
}

export async function knownMonitors(db: Database): Promise<KnownMonitor[]> {
  return db
    .selectFrom('declared_monitors')
    .select(['name', 'monitor_id as monitorId', 'since', 'compared_at as comparedAt', 'differs'])
    .orderBy('name')
    .execute()
}

/** Keeps the id of a monitor. One that had another id has this one from now on. */
export async function keepMonitor(db: Database, name: string, monitorId: string, at: Date): Promise<void> {
  await db
    .insertInto('declared_monitors')
    .values({ name, monitor_id: monitorId, since: at, compared_at: null, differs: null })
    .onConflict((conflict) =>
      conflict.column('name').doUpdateSet({
        monitor_id: monitorId,
        since: sql`case when declared_monitors.monitor_id = excluded.monitor_id then declared_monitors.since else excluded.since end`,
      }),
    )
    .execute()
}

/** Forgets the monitor of a name, as long as it still is this one. */
export async function dropMonitor(db: Database, name: string, monitorId: string): Promise<void> {
  await db
    .deleteFrom('declared_monitors')
    .where('name', '=', name)
    .where('monitor_id', '=', monitorId)
    .execute()
}

/** Notes what a comparison with the settings has found. */
export async function noteComparison(
  db: Database,
  found: readonly { name: string; differs: boolean }[],
  at: Date,
): Promise<void> {
  if (found.length === 0) return
  await sql`
    update declared_monitors set compared_at = ${at}, differs = given.differs
    from jsonb_to_recordset(${JSON.stringify(found)}::jsonb) as given (name text, differs boolean)
    where declared_monitors.name = given.name`.execute(db)
}
