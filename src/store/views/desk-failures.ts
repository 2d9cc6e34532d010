import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/schema.ts'

/** Records that stand still or came to nothing for one and the same cause. */
export interface FailureGroup {
  /** Names the group in a form: a hash of what follows. */
  id: string
  status: 'parked' | 'rejected'
  /** What parked it, in the words of domain/errors.ts; null for what was rejected. */
  code: string | null
  reason: string
  records: number
  runs: number
  /** When the first of them goes on; null: when somebody acts. */
  resumesAt: Date | null
  lastAt: Date
  /** One of them, to look at. */
  example: { connector: string; entity: string; recordId: string }
}

export interface Retried {
  /** Records that are under way again. */
  records: number
  /** Those of a file, or of a run that a later one of the same source has followed: only a new run takes them up. */
  left: number
}

const never = new Date('9999-01-01T00:00:00Z')

/** The run keeper's: it must not close a run of which tasks are being opened. */
const runKeeperLock = 7_290_006

/** The groups of the runs since then, the largest first. Parked work is shown whatever its age. */
export async function failureGroups(db: Database, since: Date): Promise<FailureGroup[]> {
  const { rows } = await sql<
    Omit<FailureGroup, 'id' | 'example'> & { connector: string; entity: string; recordId: string }
  >`
    select tasks.status, case when tasks.status = 'parked' then lookups.code end as code,
      coalesce(tasks.reason, lookups.reason, 'no reason is known') as reason,
      count(*)::int as records, count(distinct tasks.run_id)::int as runs,
      case when tasks.status = 'parked' then nullif(min(due_at), ${never}) end as "resumesAt",
      max(tasks.updated_at) as "lastAt",
      (array_agg(runs.connector order by tasks.id desc))[1] as connector,
      (array_agg(runs.entity order by tasks.id desc))[1] as entity,
      (array_agg(tasks.record_id order by tasks.id desc))[1] as "recordId"
    from tasks join runs on runs.id = tasks.run_id left join lookups on lookups.key = tasks.waiting_for
    where runs.state != 'planned'
      and (tasks.status = 'parked' or (tasks.status = 'rejected' and tasks.updated_at >= ${since}))
    group by 1, 2, 3 order by 4 desc limit 100`.execute(db)
  return rows.map(({ connector, entity, recordId, ...group }) => ({
    ...group,
    id: groupId(group),
    example: { connector, entity, recordId },
  }))
}

/**
 * Parked records: their lookups become due at once. Rejected ones: they wait for their last lookup again, which is asked
 * anew if it failed; if it was answered, the sweep plans them once more from that answer and nothing is paid. Their run
 * is under way again. Pressed twice, the second time finds nothing left to do.
 */
export async function retryGroup(
  db: Database,
  group: Pick<FailureGroup, 'status' | 'code' | 'reason'>,
  options: { now: Date; since: Date; connectors: readonly string[] },
): Promise<Retried> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${runKeeperLock})`.execute(tx)
    return group.status === 'parked' ? retryParked(tx, group, options.now) : retryRejected(tx, group, options)
  })
}

async function retryParked(
  tx: Transaction<Tables>,
  { code, reason }: Pick<FailureGroup, 'code' | 'reason'>,
  at: Date,
): Promise<Retried> {
  const { rows } = await sql<{ records: number }>`
    with chosen as (
      -- What is out together with others stands as its bundle stands.
      select tasks.id, lookups.key from tasks join lookups as asked on asked.key = tasks.waiting_for
      join lookups on lookups.key = coalesce(asked.bundle_key, asked.key)
      where tasks.status = 'parked' and lookups.state = 'parked' and lookups.code is not distinct from ${code}
        and coalesce(tasks.reason, lookups.reason, 'no reason is known') = ${reason}
    ), started as (
      -- Of a run that somebody stopped nothing is looked up: to try its records again is to start it again.
      update runs set state = 'working' where state = 'stopped' and scanned_at is not null
        and id in (select run_id from tasks where id in (select id from chosen))
    ), due as (
      update lookups set state = 'waiting', due_at = ${at}, queued_until = null, tries = 0
      where key in (select key from chosen) returning key
    ), opened as (
      update tasks set status = 'looking_up', reason = null, updated_at = ${at}
      where status = 'parked' and id in (select id from chosen) and exists (select 1 from due) returning id
    )
    select count(*)::int as records from opened`.execute(tx)
  return { records: rows[0]?.records ?? 0, left: 0 }
}

async function retryRejected(
  tx: Transaction<Tables>,
  { reason }: Pick<FailureGroup, 'reason'>,
  { now, since, connectors }: { now: Date; since: Date; connectors: readonly string[] },
): Promise<Retried> {
  const group = sql`tasks.status = 'rejected' and tasks.updated_at >= ${since}
    and coalesce(tasks.reason, 'no reason is known') = ${reason}`
  const { rows: all } = await sql<{ records: number }>`
    select count(*)::int as records from tasks join runs on runs.id = tasks.run_id
    where ${group} and runs.state != 'planned'`.execute(tx)
  // Of the runs of one source at most one may be open: the unfinished one, else the latest. A run that was stopped by
  // somebody stays stopped.
  const { rows } = await sql<{ id: bigint; run_id: string; key: string }>`
    with last as (
      select distinct on (fingerprint) id from runs where state != 'planned'
      order by fingerprint, (state in ('scanning', 'working', 'stopped', 'parked')) desc, started_at desc
    )
    update tasks set status = 'looking_up', waiting_for = known.key, reason = null, patch = null, updated_at = ${now}
    from runs, lookups as known
    where runs.id = tasks.run_id and ${group} and runs.id in (select id from last) and runs.state != 'stopped'
      and runs.connector = any(${[...connectors]})
      and known.key = coalesce(tasks.steps[cardinality(tasks.steps)], tasks.lookup_key)
      -- Of whom was forgotten nothing is left to try it again by.
      and known.key not like '%|forgotten:%'
    returning tasks.id, tasks.run_id, known.key`.execute(tx)
  if (rows.length > 0) {
    const runIds = [...new Set(rows.map(({ run_id }) => run_id))]
    const keys = [...new Set(rows.map(({ key }) => key))]
    await sql`
      update lookups set state = 'waiting', due_at = ${now}, queued_until = null, tries = 0, reason = null
      where key = any(${keys}) and state = 'failed'`.execute(tx)
    await sql`
      update runs set state = 'working', finished_at = null
      where id = any(${runIds}) and state in ('finished', 'failed', 'parked')`.execute(tx)
  }
  return { records: rows.length, left: (all[0]?.records ?? 0) - rows.length }
}

/**
 * Parked records end as skipped, with who said so. A lookup that nobody waits for any more is not bought: it fails with the
 * same reason, unless money may be under way for it, which the resolver still settles.
 */
export async function skipGroup(
  db: Database,
  { code, reason }: Pick<FailureGroup, 'code' | 'reason'>,
  options: { now: Date; by: string },
): Promise<number> {
  const why = `skipped by ${options.by}`
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ waited: string }>`
      with chosen as (
        select tasks.id, lookups.key from tasks join lookups on lookups.key = tasks.waiting_for
        where tasks.status = 'parked' and lookups.code is not distinct from ${code}
          and coalesce(tasks.reason, lookups.reason, 'no reason is known') = ${reason}
        for update of tasks
      )
      update tasks set status = 'skipped', waiting_for = null, patch = null, reason = ${why}, updated_at = ${options.now}
      from chosen where tasks.id = chosen.id and tasks.status = 'parked'
      returning chosen.key as waited`.execute(tx)
    if (rows.length > 0) {
      await sql`
        update lookups set state = 'failed', reason = ${why}, queued_until = null
        where key = any(${[...new Set(rows.map(({ waited }) => waited))]}) and state in ('waiting', 'parked')
          and not exists (select 1 from tasks where waiting_for = lookups.key)
          and not exists (select 1 from charges where lookup_key = lookups.key
            and charges.state in ('journaled', 'sent', 'in_doubt'))`.execute(tx)
    }
    return rows.length
  })
}

function groupId({ status, code, reason }: Pick<FailureGroup, 'status' | 'code' | 'reason'>): string {
  return createHash('sha256')
    .update(JSON.stringify([status, code, reason]))
    .digest('hex')
    .slice(0, 20)
}
