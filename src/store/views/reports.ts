import { sql } from 'kysely'
import type { Atomic } from '../../domain/money.ts'
import { rowsOfLists, type ObjectKind } from '../../domain/words.ts'
import { freeOperations } from '../../domain/operations.ts'
import type { Database } from '../database/database.ts'
import { filledFields, isOfFile } from './filled-fields.ts'

/** The runs that a report covers. */
export type ReportScope = { runId: string } | { from: Date; to: Date }

export interface ReportedRun {
  id: string
  connector: string
  object: ObjectKind
  trigger: string
  startedAt: Date
  records: number
  /** Records for which a lookup was wanted. */
  attempted: number
  /** Those of them that the service found. */
  matched: number
  /** Records into which at least one field was written. */
  written: number
  /** Those of them in which a value was replaced. */
  changed: number
  unchanged: number
  skipped: number
  rejected: number
  parked: number
  /** Records of people whose employer or title differs from the record. */
  jobChanges: number
  settledAtomic: Atomic
  lostAtomic: Atomic
  inDoubtAtomic: Atomic
  creditsAtomic: Atomic
}

export interface ReportedField {
  object: ObjectKind
  field: string
  filled: number
  changed: number
}

/** Returns the runs of a scope with their figures, oldest first. A record is matched when a paid lookup found it. Rows of
 * lists are not written: their records are, by another run. */
export async function reportedRuns(db: Database, scope: ReportScope): Promise<ReportedRun[]> {
  const { rows } = await sql<ReportedRun>`
    with scoped as (select * from runs where state != 'planned' and ${within(scope)}),
    counted as (
      select run_id, count(*)::int as records,
        (count(*) filter (where lookup_key is not null and (is_matched or status in ('written', 'unchanged', 'skipped', 'rejected'))))::int as attempted,
        (count(*) filter (where is_matched))::int as matched,
        (count(*) filter (where status = 'written'))::int as written,
        (count(*) filter (where status = 'written' and replaced != '{}'))::int as changed,
        (count(*) filter (where status = 'unchanged'))::int as unchanged,
        (count(*) filter (where status = 'skipped'))::int as skipped,
        (count(*) filter (where status = 'rejected'))::int as rejected,
        (count(*) filter (where status not in ('written', 'unchanged', 'skipped', 'rejected')))::int as parked,
        (count(*) filter (where job_change != '{}'))::int as job_changes
      from tasks cross join lateral (select exists (
          select 1 from lookups where lookups.key = any(array_append(steps, tasks.lookup_key))
            and lookups.outcome = 'found' and lookups.operation not in (${free})) as is_matched) as of_task
      where run_id in (select id from scoped) group by run_id
    ), paid as (
      select run_id,
        sum(amount_atomic) filter (where state = 'settled' and currency = 'USD') as settled,
        sum(amount_atomic) filter (where state = 'lost' and currency = 'USD') as lost,
        sum(amount_atomic) filter (where state in ('journaled', 'sent', 'in_doubt') and currency = 'USD') as in_doubt,
        sum(amount_atomic) filter (where state = 'settled' and currency = 'credit') as credits
      from charges where run_id in (select id from scoped) group by run_id
    )
    select scoped.id, connector, object, trigger, started_at as "startedAt",
      coalesce(counted.records, 0) as records, coalesce(attempted, 0) as attempted, coalesce(matched, 0) as matched,
      case when connector = ${rowsOfLists} then 0 else coalesce(written, 0) end as written, coalesce(changed, 0) as changed, coalesce(unchanged, 0) as unchanged,
      coalesce(skipped, 0) as skipped, coalesce(rejected, 0) as rejected, coalesce(parked, 0) as parked,
      coalesce(job_changes, 0) as "jobChanges",
      coalesce(settled, 0)::bigint as "settledAtomic", coalesce(lost, 0)::bigint as "lostAtomic",
      coalesce(in_doubt, 0)::bigint as "inDoubtAtomic", coalesce(credits, 0)::bigint as "creditsAtomic"
    from scoped left join counted on counted.run_id = scoped.id left join paid on paid.run_id = scoped.id
    order by started_at, scoped.id`.execute(db)
  return rows
}

/** Returns how often each field was filled when the record had none, and how often changed; the most frequent first. */
export async function reportedFields(db: Database, scope: ReportScope): Promise<ReportedField[]> {
  const { rows } = await sql<ReportedField>`
    select object, field, (count(*) filter (where not field = any(replaced)))::int as filled,
      (count(*) filter (where field = any(replaced)))::int as changed
    from runs join tasks on tasks.run_id = runs.id cross join ${filledFields(isOfFile)}
    where runs.state != 'planned' and tasks.status = 'written' and ${within(scope)}
    group by object, field order by count(*) desc, object, field`.execute(db)
  return rows
}

/** A field that stayed empty because what the service told is none of its kind. */
export interface ReportedLeftOut {
  object: ObjectKind
  field: string
  reason: string
  records: number
}

/** Returns which values of answers were left out, from the reasons that the planner gave; the most frequent first. */
export async function reportedLeftOut(db: Database, scope: ReportScope): Promise<ReportedLeftOut[]> {
  const { rows } = await sql<ReportedLeftOut>`
    select object, part[1] as field, part[2] as reason, count(*)::int as records
    from runs join tasks on tasks.run_id = runs.id cross join lateral regexp_matches(
      substring(tasks.reason from 'left out of the answer: ([^;]*)'), '([a-z_]+) [(]([^()]*)[)]', 'g') as part
    where runs.state != 'planned' and tasks.reason like '%left out of the answer: %' and ${within(scope)}
    group by 1, 2, 3 order by count(*) desc, 1, 2, 3`.execute(db)
  return rows
}

/** Returns what was settled on each UTC day. */
export async function reportedDays(
  db: Database,
  scope: ReportScope,
): Promise<{ day: string; settledAtomic: Atomic }[]> {
  const { rows } = await sql<{ day: string; settledAtomic: Atomic }>`
    select to_char(charges.created_at at time zone 'UTC', 'YYYY-MM-DD') as day, sum(amount_atomic)::bigint as "settledAtomic"
    from charges join runs on runs.id = charges.run_id
    where charges.state = 'settled' and charges.currency = 'USD' and ${within(scope)} group by 1 order by 1`.execute(
    db,
  )
  return rows
}

const free = sql.join(freeOperations.map((operation) => sql`${operation}`))

function within(scope: ReportScope) {
  return 'runId' in scope
    ? sql`runs.id = ${scope.runId}`
    : sql`runs.started_at >= ${scope.from} and runs.started_at < ${scope.to}`
}
