import { sql, type Transaction } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/schema.ts'
import { isStoppedByPerson, runStatesLock } from './parked-runs.ts'

/** The cause that the records of a group have in common. */
export interface FailureCause {
  status: 'parked' | 'rejected'
  /** The error code that parked the lookups (domain/errors.ts); null for rejected records. */
  code: string | null
  reason: string
}

export interface Retried {
  /** Records that are open again. */
  records: number
  /** Records that only a new run can take up: those of a file, and those of a run that has a later run of the same source. */
  left: number
}

/**
 * Retries the records of a group and reopens their runs. The lookups of parked records become due at once. Rejected records
 * wait for their last lookup again. A failed lookup is asked again; from an answered one the sweep plans the record once
 * more, and nothing is paid. A second call finds nothing left to retry.
 */
export async function retryGroup(
  db: Database,
  group: FailureCause,
  options: { now: Date; since: Date; connectors: readonly string[] },
): Promise<Retried> {
  return db.transaction().execute(async (tx) => {
    // `updateRunStates` must not finish a run while its tasks are being reopened.
    await sql`select pg_advisory_xact_lock(${runStatesLock})`.execute(tx)
    return group.status === 'parked' ? retryParked(tx, group, options.now) : retryRejected(tx, group, options)
  })
}

async function retryParked(
  tx: Transaction<Tables>,
  { code, reason }: Pick<FailureCause, 'code' | 'reason'>,
  at: Date,
): Promise<Retried> {
  const { rows } = await sql<{ records: number }>`
    with chosen as (
      -- A lookup that is out in a batch has the state of its batch.
      select tasks.id, tasks.run_id, lookups.key from tasks join lookups as asked on asked.key = tasks.waiting_for
      join lookups on lookups.key = coalesce(asked.bundle_key, asked.key)
      where not ${isStoppedByPerson(sql`tasks.run_id`)} and tasks.status = 'parked' and lookups.state = 'parked' and lookups.code is not distinct from ${code}
        and coalesce(tasks.reason, lookups.reason, 'no reason is known') = ${reason}
    ), started as (
      -- A stopped run buys nothing, so retrying its records starts it again, unless a person stopped it.
      update runs set state = 'working' where state = 'stopped' and scanned_at is not null
        and id in (select run_id from tasks where id in (select id from chosen))
    ), due as (
      -- A run that a person stopped buys nothing: its lookup moves to a run that was retried.
      update lookups set state = 'waiting', due_at = ${at}, queued_until = null, tries = 0,
        run_id = case when ${isStoppedByPerson(sql`lookups.run_id`)} then retried.run_id else lookups.run_id end
      from (select key, min(run_id) as run_id from chosen group by key) as retried
      where lookups.key = retried.key returning lookups.key
    ), opened as (
      update tasks set status = 'looking_up', reason = null, updated_at = ${at}
      where status = 'parked' and id in (select id from chosen) and exists (select 1 from due) returning id
    )
    select count(*)::int as records from opened`.execute(tx)
  return { records: rows[0]?.records ?? 0, left: 0 }
}

async function retryRejected(
  tx: Transaction<Tables>,
  { reason }: Pick<FailureCause, 'reason'>,
  { now, since, connectors }: { now: Date; since: Date; connectors: readonly string[] },
): Promise<Retried> {
  const group = sql`tasks.status = 'rejected' and tasks.updated_at >= ${since}
    and coalesce(tasks.reason, 'no reason is known') = ${reason}`
  const { rows: all } = await sql<{ records: number }>`
    select count(*)::int as records from tasks join runs on runs.id = tasks.run_id
    where ${group} and runs.state != 'planned'`.execute(tx)
  // At most one run of a source may be open: the unfinished one, otherwise the latest. A stopped run stays stopped.
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
      -- Nothing is left with which to retry a forgotten subject.
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
 * Ends the parked records of a group as skipped, and names who skipped them as the reason. Returns how many. A lookup that no
 * task waits for any more is not bought: it fails with the same reason. A lookup with an open charge is left to the resolver,
 * which still settles it.
 */
export async function skipGroup(
  db: Database,
  { code, reason }: Pick<FailureCause, 'code' | 'reason'>,
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
