import { sql, type RawBuilder } from 'kysely'
import type { Database } from '../database/database.ts'
import { openChargeStates } from '../../domain/payment.ts'
import {
  isLeftBehind,
  lastLookup,
  lastRuns,
  mayRetryParked,
  mayRetryRejected,
} from '../runs/failure-cause.ts'
import { liftPlanCaps } from '../runs/plan-cap.ts'
import { isStoppedByPerson, runStatesLock } from '../runs/parked-runs.ts'

/** The rejected tasks that can be retried: those that ended since then, of sources that a worker can write to. */
export interface RetryLimits {
  since: Date
  connectors: readonly string[]
}

/**
 * The actions that an operator has on one task. `retry_parked` makes its lookup due now; `retry_rejected` evaluates
 * and writes its record again; `skip` ends it with a reason.
 */
export type TaskAction = 'retry_parked' | 'retry_rejected' | 'skip'

/** Returns what can be done with a task now. A page offers these actions and no others. */
export async function actionsOn(db: Database, id: bigint, limits: RetryLimits): Promise<TaskAction[]> {
  const { rows } = await sql<{ action: TaskAction }>`
    with last as (${lastRuns})
    select 'retry_parked' as action where exists (select from ${parkedTask(id, limits)})
    union all
    select 'retry_rejected' where exists (select from ${rejectedTask(id, limits)})
    union all
    select 'skip' where exists (select from tasks where id = ${id} and status = 'parked')`.execute(db)
  return rows.map(({ action }) => action)
}

/**
 * Retries one task, and returns whether there was something to retry. The lookup of a parked task becomes due at once, for all
 * tasks that wait for it. A rejected task waits for its last lookup again: a failed one is asked again; with an answered one
 * the sweep plans the record once more, and nothing is paid.
 *
 * Crash and race windows. A retry makes no charge and closes none: it only makes a lookup due, under the same key.
 * - Killed before the commit, nothing has changed. Killed after it, the lookup is due or answered, and the enqueuer or the
 *   sweep continues: nobody has to tell them.
 * - Its payment is in doubt: the charge stays open, and the worker that takes the lookup up sends the same bytes again.
 *   `reserveCharges` refuses a second charge while one is open.
 * - The late answer of a payment in doubt is stored at the same moment: the update waits for that row, asks for its state
 *   again, and leaves an answered lookup alone. Without that the answer would be bought a second time.
 * - Two operators press at once, or one presses twice: the second waits for the lock and finds nothing left to retry.
 * - The run ends at the same moment: `updateRunStates` takes the same lock.
 * - A stopped run stays stopped, because starting it would buy for all of its records. Its tasks cannot be retried alone.
 */
export async function retryTask(
  db: Database,
  id: bigint,
  { now, ...limits }: RetryLimits & { now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${runStatesLock})`.execute(tx)
    return (
      (await retryParked(tx, id, { ...limits, now })) || (await retryRejected(tx, id, { ...limits, now }))
    )
  })
}

/** A task that is parked, with the lookup that parks it. A lookup that is out in a batch has the state of its batch. */
function parkedTask(id: bigint, { connectors }: RetryLimits): RawBuilder<unknown> {
  return sql`tasks join runs on runs.id = tasks.run_id and runs.state <> 'stopped'
    join lookups as asked on asked.key = tasks.waiting_for
    join lookups as owner on owner.key = coalesce(asked.bundle_key, asked.key)
    where tasks.id = ${id} and ${mayRetryParked(connectors)}`
}

async function retryParked(
  db: Database,
  id: bigint,
  { now: at, ...limits }: RetryLimits & { now: Date },
): Promise<boolean> {
  const { rows } = await sql<{ opened: number }>`
    with chosen as (
      select owner.key, tasks.run_id, runs.connector from ${parkedTask(id, limits)}
    ), lifted as (${liftPlanCaps(sql`select key from chosen`)}), due as (
      -- A run that a person stopped buys nothing: its lookup moves to the run of this task.
      update lookups set state = 'waiting', due_at = ${at}, queued_until = null, tries = 0,
        run_id = case when ${isStoppedByPerson(sql`lookups.run_id`)} then chosen.run_id else lookups.run_id end,
        connector = case when ${isStoppedByPerson(sql`lookups.run_id`)} then chosen.connector else lookups.connector end
      from chosen where lookups.key = chosen.key and lookups.state = 'parked' returning lookups.key
    ), opened as (
      -- All that wait for it: they go on with its answer too.
      update tasks set status = 'looking_up', reason = null, updated_at = ${at}
      from due join lookups as asked on asked.key = due.key or asked.bundle_key = due.key, runs
      where waiting_for = asked.key and status = 'parked' and runs.id = tasks.run_id and runs.state <> 'stopped'
      returning tasks.id
    )
    select count(*)::int as opened from opened`.execute(db)
  return (rows[0]?.opened ?? 0) > 0
}

/** A rejected task that can be evaluated again. Used behind `with last as`. */
function rejectedTask(id: bigint, { since, connectors }: RetryLimits): RawBuilder<unknown> {
  return sql`tasks join runs on runs.id = tasks.run_id
    where tasks.id = ${id} and tasks.updated_at >= ${since} and ${mayRetryRejected(connectors)}`
}

async function retryRejected(
  db: Database,
  id: bigint,
  { now, ...limits }: RetryLimits & { now: Date },
): Promise<boolean> {
  const { rows } = await sql<{ run_id: string; key: string }>`
    with last as (${lastRuns}), chosen as (select tasks.id, ${lastLookup} as key from ${rejectedTask(id, limits)})
    update tasks set status = 'looking_up', waiting_for = chosen.key, reason = null, patch = null, updated_at = ${now}
    from chosen where tasks.id = chosen.id and tasks.status = 'rejected' returning tasks.run_id, chosen.key`.execute(
    db,
  )
  const [row] = rows
  if (!row) return false
  await sql`
    update lookups set state = 'waiting', due_at = ${now}, queued_until = null, tries = 0, reason = null
    where key = ${row.key} and state = 'failed'`.execute(db)
  await sql`
    update runs set state = 'working', finished_at = null
    where id = ${row.run_id} and state in ('finished', 'failed', 'parked')`.execute(db)
  return true
}

/**
 * Ends a parked task as skipped, with who skipped it and why. Returns whether it was parked. A lookup that no other task waits
 * for is not bought: it fails.
 *
 * Crash and race windows:
 * - One transaction: killed before its commit, the task is parked as before; killed after it, it has ended.
 * - Its payment is open, alone or in a batch, or was made and its answer is still to come: the lookup is left alone. A paid
 *   one is kept, and the next task that asks for it gets the answer without paying.
 * - A worker reserves a charge at the same moment: both lock the row of the lookup. Either the charge is there first, and the
 *   lookup is left alone; or the lookup has failed, and the charge is refused.
 * - Another run has asked for the lookup and has not stored its record yet: asking makes it wait, so it is left alone.
 */
export async function skipTask(
  db: Database,
  id: bigint,
  { now, by, why }: { now: Date; by: string; why: string },
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const who = `skipped by ${by}`
    const { rows } = await sql<{ waited: string; run: string }>`
      with chosen as (
        select id, waiting_for from tasks where id = ${id} and status = 'parked' for update
      )
      update tasks set status = 'skipped', waiting_for = null, patch = null, updated_at = ${now},
        reason = ${why === '' ? who : `${who}: ${why}`}
      from chosen where tasks.id = chosen.id returning chosen.waiting_for as waited, tasks.run_id as run`.execute(
      tx,
    )
    const [row] = rows
    if (!row) return false
    // Locked in a statement of its own: one that waits for a lock still sees the charges from before the wait.
    await sql`select from lookups where key = ${row.waited} for no key update`.execute(tx)
    await sql`
      update lookups set state = 'failed', reason = ${who}, queued_until = null
      where key = ${row.waited} and ${isLeftBehind(sql`lookups.run_id = ${row.run}`)} and query_id is null
        and not exists (select from tasks where waiting_for = lookups.key)
        and not exists (select from charges where lookup_key in (lookups.key, lookups.bundle_key)
          and charges.state = any(${[...openChargeStates]}::text[]))`.execute(tx)
    return true
  })
}
