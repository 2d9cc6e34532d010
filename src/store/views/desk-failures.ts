import { sql } from 'kysely'
import {
  groupId,
  hasFailed,
  lastRuns,
  mayRetryParked,
  mayRetryRejected,
  parkedCause,
  rejectedCause,
  type FailureCause,
} from '../runs/failure-cause.ts'
import { isStoppedByPerson } from '../runs/parked-runs.ts'
import type { Database } from '../database/database.ts'
import { indefinitely } from '../database/tables/states.ts'
import { scheduleOfRun } from './desk-runs.ts'

/** Records that are parked or were rejected for the same cause. */
export interface FailureGroup extends FailureCause {
  /** Identifies the group in a form: a hash of its cause. */
  id: string
  records: number
  runs: number
  /** The number of them that a retry takes up. */
  retryable: number
  /** The number of them that are of a run which a person stopped. */
  held: number
  connectors: string[]
  /** When the first of them resumes by itself; null: never, a person has to act. */
  resumesAt: Date | null
  lastAt: Date
  /** One record of the group. */
  example: { connector: string; entity: string; recordId: string }
  /** The first records that are rows of files, by file. */
  places: { file: string; lines: string[]; more: number }[]
}

export interface FailureRecord {
  task: bigint
  run: string
  connector: string
  entity: string
  file: string | null
  schedule: string | null
  recordId: string
  at: Date
}

interface Scope {
  since: Date
  /** The connectors whose runs the workers carry out. */
  connectors: readonly string[]
}

const linesShown = 12

/** The records of all groups: parked ones whatever their age, rejected ones since then. */
const failed = (since: Date) => sql`
  tasks join runs on runs.id = tasks.run_id left join lookups on lookups.key = tasks.waiting_for
    left join lookups as owner on owner.key = coalesce(lookups.bundle_key, lookups.key)
  where runs.state != 'planned'
    and (tasks.status = 'parked' or (tasks.status = 'rejected' and tasks.updated_at >= ${since}))`

const code = sql`case when tasks.status = 'parked' then lookups.code end`
const cause = sql<string>`case when tasks.status = 'parked' then ${parkedCause} else ${rejectedCause} end`

/** Returns the groups of the runs since then, the largest first. Parked records are included whatever their age. */
export async function failureGroups(db: Database, { since, connectors }: Scope): Promise<FailureGroup[]> {
  const { rows } = await sql<
    Omit<FailureGroup, 'id' | 'example' | 'places'> & {
      connector: string
      entity: string
      recordId: string
      files: { file: string; lines: string[]; rows: number }[] | null
    }
  >`
    with last as (${lastRuns}), failed as (
      select tasks.status, ${code} as code, ${cause} as reason, tasks.id, tasks.run_id, tasks.record_id, tasks.updated_at,
        lookups.due_at, runs.connector, runs.entity, runs.source->>'file' as file,
        ${mayRetryParked(connectors)} or ${mayRetryRejected(connectors)} as may, ${isStoppedByPerson(sql`runs.id`)} as held
      from ${failed(since)}
    ), places as (
      select status, code, reason, file, (array_agg(record_id order by id))[1:${sql.lit(linesShown)}] as lines,
        count(*)::int as rows
      from failed where file is not null group by 1, 2, 3, 4
    )
    select status, code, reason, count(*)::int as records, count(distinct run_id)::int as runs,
      (count(*) filter (where may))::int as retryable, (count(*) filter (where held))::int as held,
      array_agg(distinct connector) as connectors,
      case when status = 'parked' then nullif(min(due_at), ${indefinitely}) end as "resumesAt",
      max(updated_at) as "lastAt",
      (array_agg(connector order by id desc))[1] as connector,
      (array_agg(entity order by id desc))[1] as entity,
      (array_agg(record_id order by id desc))[1] as "recordId",
      (select jsonb_agg(jsonb_build_object('file', file, 'lines', lines, 'rows', rows) order by rows desc, file) from places
        where places.status = failed.status and places.code is not distinct from failed.code
          and places.reason = failed.reason) as files
    from failed group by 1, 2, 3 order by 4 desc limit 100`.execute(db)
  return rows.map(({ connector, entity, recordId, files, ...group }) => ({
    ...group,
    id: groupId(group),
    example: { connector, entity, recordId },
    places: (files ?? []).map(({ file, lines, rows: all }) => ({ file, lines, more: all - lines.length })),
  }))
}

/** Counts the failed records of a run that a retry takes up: rejected ones, and those parked until a person acts. */
export async function retryableOf(
  db: Database,
  runId: string,
  connectors: readonly string[],
): Promise<number> {
  const { rows } = await sql<{ records: number }>`
    with last as (${lastRuns})
    select count(*)::int as records from tasks join runs on runs.id = tasks.run_id
      left join lookups on lookups.key = tasks.waiting_for
      left join lookups as owner on owner.key = coalesce(lookups.bundle_key, lookups.key)
    where tasks.run_id = ${runId} and (${mayRetryRejected(connectors)}
      or ${mayRetryParked(connectors)} and ${hasFailed})`.execute(db)
  return rows[0]?.records ?? 0
}

/** Returns a page of a group's records in the order of their tasks, beginning behind the task `after`. */
export async function failureRecords(
  db: Database,
  group: FailureCause,
  { since, after, limit }: { since: Date; after: bigint; limit: number },
): Promise<FailureRecord[]> {
  const { rows } = await sql<FailureRecord>`
    select tasks.id as task, tasks.run_id as run, runs.connector, runs.entity, runs.source->>'file' as file,
      ${scheduleOfRun} as schedule, tasks.record_id as "recordId", tasks.updated_at as at
    from ${failed(since)} and tasks.status = ${group.status} and ${code} is not distinct from ${group.code}
      and ${cause} = ${group.reason} and tasks.id > ${after}
    order by tasks.id limit ${limit}`.execute(db)
  return rows
}
