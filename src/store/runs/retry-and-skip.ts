import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Tables } from '../database/tables/schema.ts'
import {
  hasFailed,
  isLeftBehind,
  lastLookup,
  lastRuns,
  mayRetryParked,
  mayRetryRejected,
  parkedCause,
  rejectedCause,
  type FailureCause,
} from './failure-cause.ts'
import { liftPlanCaps } from './plan-cap.ts'
import { isStoppedByPerson, runStatesLock } from './parked-runs.ts'

export interface Retried {
  /** Records that are open again. */
  records: number
  /** Records that only a new run can take up: those of a file, and those of a run that has a later run of the same source. */
  left: number
}

interface RetryOptions {
  now: Date
  /** The connectors whose runs the workers carry out. */
  connectors: readonly string[]
}

/**
 * Retries the records of a group and reopens their runs. The lookups of parked records become due at once. Rejected records
 * wait for their last lookup again. A failed lookup is asked again; from an answered one the sweep plans the record once
 * more, and nothing is paid. A second call finds nothing left to retry.
 */
export async function retryGroup(
  db: Database,
  { status, code, reason }: FailureCause,
  { since, ...options }: RetryOptions & { since: Date },
): Promise<Retried> {
  return locked(db, (tx) =>
    status === 'parked'
      ? retryParked(
          tx,
          sql`lookups.code is not distinct from ${code} and ${parkedCause} = ${reason}`,
          options,
        )
      : retryRejected(tx, sql`tasks.updated_at >= ${since} and ${rejectedCause} = ${reason}`, options),
  )
}

/** Retries, in the same way, the records of a run that were rejected, and those parked until a person acts. */
export async function retryFailed(db: Database, runId: string, options: RetryOptions): Promise<Retried> {
  return locked(db, async (tx) => {
    const waits = sql`tasks.run_id = ${runId} and ${hasFailed}`
    const parked = await retryParked(tx, waits, options)
    const rejected = await retryRejected(tx, sql`tasks.run_id = ${runId}`, options)
    return { records: parked.records + rejected.records, left: parked.left + rejected.left }
  })
}

/** `updateRunStates` must not finish a run while its tasks are being reopened. */
async function locked<T>(db: Database, work: (tx: Transaction<Tables>) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${runStatesLock})`.execute(tx)
    return work(tx)
  })
}

/** `which`: a condition on `tasks`, and on the lookups that they wait for. */
async function retryParked(
  tx: Transaction<Tables>,
  which: RawBuilder<unknown>,
  { now: at, connectors }: RetryOptions,
): Promise<Retried> {
  const { rows } = await sql<{ records: number; found: number }>`
    with found as (
      -- A lookup that is out in a batch has the state of its batch.
      select tasks.id, tasks.run_id, owner.key, ${mayRetryParked(connectors)} as may
      from tasks join runs on runs.id = tasks.run_id join lookups on lookups.key = tasks.waiting_for
        join lookups as owner on owner.key = coalesce(lookups.bundle_key, lookups.key)
      where tasks.status = 'parked' and ${which}
    ), chosen as (
      select id, run_id, key from found where may
    ), started as (
      -- A stopped run buys nothing, so retrying its records starts it again, unless a person stopped it.
      update runs set state = 'working' where state = 'stopped' and scanned_at is not null
        and id in (select run_id from chosen)
    ), lifted as (${liftPlanCaps(sql`select key from chosen`)}), due as (
      -- A run that a person stopped buys nothing: its lookup moves to a run that was retried.
      update lookups set state = 'waiting', due_at = ${at}, queued_until = null, tries = 0,
        run_id = case when ${isStoppedByPerson(sql`lookups.run_id`)} then retried.run_id else lookups.run_id end
      from (select key, min(run_id) as run_id from chosen group by key) as retried
      -- The state is asked for again: when a late answer holds the row, this waits for it, and must not ask a second time.
      where lookups.key = retried.key and lookups.state = 'parked' returning lookups.key
    ), opened as (
      update tasks set status = 'looking_up', reason = null, updated_at = ${at}
      where status = 'parked' and id in (select id from chosen) and exists (select 1 from due) returning id
    )
    select (select count(*) from opened)::int as records, (select count(*) from found)::int as found`.execute(
    tx,
  )
  const { records = 0, found = 0 } = rows[0] ?? {}
  return { records, left: found - records }
}

async function retryRejected(
  tx: Transaction<Tables>,
  which: RawBuilder<unknown>,
  { now, connectors }: RetryOptions,
): Promise<Retried> {
  const { rows: all } = await sql<{ records: number }>`
    select count(*)::int as records from tasks join runs on runs.id = tasks.run_id
    where tasks.status = 'rejected' and ${which} and runs.state != 'planned'`.execute(tx)
  const { rows } = await sql<{ id: bigint; run_id: string; key: string }>`
    with last as (${lastRuns})
    update tasks set status = 'looking_up', waiting_for = ${lastLookup}, reason = null, patch = null, updated_at = ${now}
    from runs where runs.id = tasks.run_id and ${which} and ${mayRetryRejected(connectors)}
    returning tasks.id, tasks.run_id, tasks.waiting_for as key`.execute(tx)
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
    const { rows } = await sql<{ waited: string; run: string }>`
      with chosen as (
        select tasks.id, lookups.key from tasks join lookups on lookups.key = tasks.waiting_for
        where tasks.status = 'parked' and lookups.code is not distinct from ${code}
          and ${parkedCause} = ${reason}
        for update of tasks
      )
      update tasks set status = 'skipped', waiting_for = null, patch = null, reason = ${why}, updated_at = ${options.now}
      from chosen where tasks.id = chosen.id and tasks.status = 'parked'
      returning chosen.key as waited, tasks.run_id as run`.execute(tx)
    if (rows.length > 0) {
      await sql`
        update lookups set state = 'failed', reason = ${why}, queued_until = null
        where key = any(${[...new Set(rows.map(({ waited }) => waited))]}) 
          and ${isLeftBehind(sql`lookups.run_id = any(${[...new Set(rows.map(({ run }) => run))]})`)}
          -- Its request was started and paid: the answer is still to come.
          and query_id is null
          and not exists (select 1 from tasks where waiting_for = lookups.key)
          and not exists (select 1 from charges where lookup_key in (lookups.key, lookups.bundle_key)
            and charges.state in ('journaled', 'sent', 'in_doubt'))`.execute(tx)
    }
    return rows.length
  })
}
