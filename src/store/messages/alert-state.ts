import { sql } from 'kysely'
import type { AlertState } from '../../domain/alerts.ts'
import type { Database } from '../database/database.ts'
import { lastReconciliation } from '../chain/reconciliations.ts'

const hourMs = 3_600_000

/** Returns the figures that the alert rules evaluate. */
export async function readAlertState(
  db: Database,
  { schedules, foreground }: { schedules: readonly string[]; foreground: readonly string[] },
  at: Date,
): Promise<Omit<AlertState, 'wallet' | 'contract' | 'monitors'>> {
  const { rows: caps } = await sql<{ window: string; lookups: number; resumes_at: Date | null }>`
    select substr(code, 8) as "window", count(*)::int as lookups,
      nullif(min(due_at), '9999-01-01T00:00:00Z') as resumes_at
    from lookups where state = 'parked' and code like 'budget\\_%' and due_at > ${at}
    group by code order by code`.execute(db)
  const hourAgo = new Date(at.getTime() - hourMs)
  const { rows: recent } = await sql<{ ended: number; failed: number }>`
    select count(*)::int as ended,
      (count(*) filter (where tasks.status = 'rejected'))::int as failed
    from runs join tasks on tasks.run_id = runs.id
    where tasks.status in ('written', 'unchanged', 'skipped', 'rejected') and tasks.updated_at >= ${hourAgo}
      and runs.state <> 'planned'`.execute(db)
  const { rows: outages } = await sql<{ lookups: number }>`
    select count(*)::int as lookups from lookups
    where state = 'parked' and code in ('unreachable', 'timeout', 'chain_unreachable')`.execute(db)
  // `updated_at` is when a task last moved, so for open work it is when the work stalled. Both subqueries read an index
  // from one end and stop at the first match, so they do not read the tasks of runs that ended long ago.
  const { rows: work } = await sql<{ due_since: Date | null; last_ended_at: Date | null }>`
    with working as materialized (
      select id, started_at from runs where state in ('scanning', 'working') and connector <> all(${[...foreground]}::text[])
    )
    select (
      select updated_at from tasks where status in ('looking_up', 'ready') and run_id in (select id from working)
      order by updated_at limit 1
    ) as due_since, (
      select updated_at from tasks
      where status in ('written', 'unchanged') and updated_at >= (select min(started_at) from working)
        and run_id in (select id from working)
      order by updated_at desc limit 1
    ) as last_ended_at`.execute(db)
  const { rows: occurrences } = await sql<AlertState['schedules'][number]>`
    select distinct on (schedule, entity) schedule, entity, state, planned_at as "plannedAt", reason
    from schedule_turns where schedule = any(${[...schedules]}) and state <> 'due'
    order by schedule, entity, planned_at desc`.execute(db)
  const stuck = outages[0]?.lookups ?? 0
  return {
    caps: caps.map(({ window, lookups, resumes_at: resumesAt }) => ({ window, lookups, resumesAt })),
    recent: { ended: (recent[0]?.ended ?? 0) + stuck, failed: (recent[0]?.failed ?? 0) + stuck },
    work: { dueSince: work[0]?.due_since ?? null, lastEndedAt: work[0]?.last_ended_at ?? null },
    reconciliation: (await lastReconciliation(db)) ?? 'none',
    schedules: occurrences,
  }
}
