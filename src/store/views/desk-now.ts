import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import { taskStatuses, type TaskStatus } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { indefinitely, type RunState } from '../database/tables/states.ts'

/** An active run, with the figures that show its speed. */
export interface LiveRun {
  id: string
  /** The name of the file, for a run of one. */
  file: string | null
  /** The schedule that began it. */
  schedule: string | null
  connector: string
  entity: string
  trigger: string
  state: RunState
  startedAt: Date
  /** Records read so far; more follow while `scanned` is false. */
  records: number
  scanned: boolean
  counts: Record<TaskStatus, number>
  /** Records that ended within the last minute. */
  endedLastMinute: number
  /** When the first of them ended; null when none did. */
  endedFrom?: Date | null
  settledAtomic: Atomic
  /** Settled on direct access, in millionths of a credit. */
  creditsAtomic: Atomic
}

export interface ParkedGroup {
  code: string | null
  reason: string
  records: number
  /** When the first of them resumes by itself; null: never, a person has to act. */
  resumesAt: Date | null
}

export interface MoneyNow {
  /** The committed amount of each budget scope (pay/limits/budget.ts). */
  committed: Map<string, Atomic>
  settledTodayAtomic: Atomic
  settledLastDayAtomic: Atomic
  settledLastWeekAtomic: Atomic
  /** When the first charge of all was made. */
  firstAt: Date | null
  inDoubtAtomic: Atomic
  inDoubt: number
  lostAtomic: Atomic
}

/** The statuses that do not change any more. */
export const finalStatuses = ['written', 'unchanged', 'skipped', 'rejected'] as const

/** Returns up to `limit` unfinished runs, the latest first; with an id the run of that id, in any state. */
export async function liveRuns(db: Database, now: Date, limit: number, id?: string): Promise<LiveRun[]> {
  const minuteAgo = new Date(now.getTime() - 60_000)
  const wanted =
    id === undefined
      ? sql`state in ('scanning', 'working', 'stopped', 'parked')`
      : sql`id = ${id} and state != 'planned'`
  const { rows } = await sql<Omit<LiveRun, 'counts'> & Record<TaskStatus, number>>`
    with live as (
      select * from runs where ${wanted} order by started_at desc limit ${limit}
    ), counted as (
      -- A lateral join counts run by run: a plain join would also read the records of runs that ended long ago.
      select live.id as run_id, of_run.* from live cross join lateral (select
        (count(*) filter (where status = 'queued'))::int as queued,
        (count(*) filter (where status = 'looking_up'))::int as looking_up,
        (count(*) filter (where status = 'ready'))::int as ready,
        (count(*) filter (where status = 'written'))::int as written,
        (count(*) filter (where status = 'unchanged'))::int as unchanged,
        (count(*) filter (where status = 'skipped'))::int as skipped,
        (count(*) filter (where status = 'rejected'))::int as rejected,
        (count(*) filter (where status = 'parked'))::int as parked,
        (count(*) filter (where status in ('written', 'unchanged', 'skipped', 'rejected') and updated_at > ${minuteAgo}))::int as ended,
        min(updated_at) filter (where status in ('written', 'unchanged', 'skipped', 'rejected') and updated_at > ${minuteAgo}) as ended_from
      from tasks where run_id = live.id) as of_run
    ), paid as (
      select run_id, sum(amount_atomic) filter (where currency = 'USD') as settled,
        sum(amount_atomic) filter (where currency = 'credit') as credits
      from charges where run_id in (select id from live) and state = 'settled' group by run_id
    )
    select live.id, live.source->>'file' as file,
      (select schedule from schedule_turns where run_id = live.id and schedule is not null order by schedule_turns.id limit 1) as schedule, connector, entity, trigger, state, started_at as "startedAt", records, scanned_at is not null as scanned,
      coalesce(ended, 0) as "endedLastMinute", ended_from as "endedFrom", coalesce(settled, 0)::bigint as "settledAtomic", coalesce(credits, 0)::bigint as "creditsAtomic",
      ${sql.join(
        taskStatuses.map((status) => sql`coalesce(${sql.ref(`counted.${status}`)}, 0) as ${sql.ref(status)}`),
      )}
    from live left join counted on counted.run_id = live.id left join paid on paid.run_id = live.id
    order by started_at desc`.execute(db)
  return rows.map((row) => ({
    ...row,
    counts: Object.fromEntries(taskStatuses.map((status) => [status, row[status]])) as Record<
      TaskStatus,
      number
    >,
  }))
}

/** Returns why work is parked, that of one run or of all, the most frequent reason first. */
export async function parkedGroups(db: Database, runId?: string): Promise<ParkedGroup[]> {
  const { rows } = await sql<ParkedGroup>`
    select code, coalesce(tasks.reason, lookups.reason, 'no reason is known') as reason, count(*)::int as records,
      nullif(min(due_at), ${indefinitely}) as "resumesAt"
    from tasks join lookups on lookups.key = tasks.waiting_for
    where tasks.status = 'parked' ${runId === undefined ? sql`` : sql`and tasks.run_id = ${runId}`}
    group by 1, 2 order by 3 desc limit 20`.execute(db)
  return rows
}

/** Counts waiting lookups: `hot` are those that a person waits for, `retrying` those of all that have failed before. */
export async function openLookups(
  db: Database,
): Promise<{ hot: number; background: number; retrying: number }> {
  const { rows } = await sql<{ hot: number; background: number; retrying: number }>`
    select (count(*) filter (where hot))::int as hot, (count(*) filter (where not hot))::int as background,
      (count(*) filter (where tries > 0))::int as retrying
    from lookups where state = 'waiting'`.execute(db)
  return rows[0] ?? { hot: 0, background: 0, retrying: 0 }
}

export async function moneyNow(db: Database, now: Date, scopes: readonly string[]): Promise<MoneyNow> {
  const day = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()))
  const ago = (days: number) => new Date(now.getTime() - days * 86_400_000)
  const budgets = await db
    .selectFrom('budgets')
    .selectAll()
    .where('scope', 'in', scopes.length > 0 ? [...scopes] : [''])
    .execute()
  const { rows } = await sql<Omit<MoneyNow, 'committed'>>`
    select coalesce(sum(amount_atomic) filter (where state = 'settled' and created_at >= ${day}), 0)::bigint as "settledTodayAtomic",
      coalesce(sum(amount_atomic) filter (where state = 'settled' and created_at >= ${ago(1)}), 0)::bigint as "settledLastDayAtomic",
      coalesce(sum(amount_atomic) filter (where state = 'settled'), 0)::bigint as "settledLastWeekAtomic",
      coalesce((select sum(amount_atomic) from charges where state in ('journaled', 'sent', 'in_doubt') and currency = 'USD'), 0)::bigint as "inDoubtAtomic",
      (select count(*) from charges where state = 'in_doubt')::int as "inDoubt",
      coalesce(sum(amount_atomic) filter (where state = 'lost'), 0)::bigint as "lostAtomic",
      (select min(created_at) from charges) as "firstAt"
    from charges where currency = 'USD' and created_at >= ${ago(7)}`.execute(db)
  const [money] = rows
  if (!money) throw new Error('an aggregate without a row')
  return { ...money, committed: new Map(budgets.map((row) => [row.scope, row.committed_atomic])) }
}
