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

/** Returns the ids that monitors of the settings had before they were deleted or replaced. */
export async function formerMonitors(db: Database): Promise<{ monitorId: string; name: string }[]> {
  return db.selectFrom('former_monitors').select(['monitor_id as monitorId', 'name']).execute()
}

/** Keeps the id of a monitor. One that had another id has this one from now on. */
export async function keepMonitor(db: Database, name: string, monitorId: string, at: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await noteEnd(tx, at, (monitor) => monitor.where('name', '=', name).where('monitor_id', '!=', monitorId))
    await tx.deleteFrom('former_monitors').where('monitor_id', '=', monitorId).execute()
    await tx
      .insertInto('declared_monitors')
      .values({ name, monitor_id: monitorId, since: at, compared_at: null, differs: null })
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet({
          monitor_id: monitorId,
          since: sql`case when declared_monitors.monitor_id = excluded.monitor_id then declared_monitors.since else excluded.since end`,
        }),
      )
      .execute()
  })
}

/** Forgets the monitor of a name, as long as it still is this one. Its deliveries are known as those of one that was deleted. */
export async function dropMonitor(db: Database, name: string, monitorId: string, at: Date): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await noteEnd(tx, at, (monitor) => monitor.where('name', '=', name).where('monitor_id', '=', monitorId))
    await tx
      .deleteFrom('declared_monitors')
      .where('name', '=', name)
      .where('monitor_id', '=', monitorId)
      .execute()
  })
}

type Named = ReturnType<typeof selectNamed>

async function noteEnd(tx: Database, at: Date, which: (monitors: Named) => Named): Promise<void> {
  const ended = await which(selectNamed(tx)).execute()
  for (const { monitor_id, name } of ended)
    await tx
      .insertInto('former_monitors')
      .values({ monitor_id, name, ended_at: at })
      .onConflict((conflict) => conflict.column('monitor_id').doUpdateSet({ name, ended_at: at }))
      .execute()
}

function selectNamed(tx: Database) {
  return tx.selectFrom('declared_monitors').select(['monitor_id', 'name'])
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
