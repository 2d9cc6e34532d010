import { sql, type RawBuilder } from 'kysely'
import { errorCode } from '../../domain/error-codes.ts'
import { freeOperations } from '../../domain/operations.ts'
import type { Database } from '../database/database.ts'
import { indefinitely } from '../database/tables/states.ts'

/** The advisory lock for changing run states and reopening tasks. The number is arbitrary. */
export const runStatesLock = 7_290_006

/** The code that parks the lookups of a stopped run. They are unparked when the run is started again. */
const runStoppedCode = errorCode.runStopped

/** True for a run that a person stopped; for use inside a statement. */
export const isStoppedByPerson = (runId: RawBuilder<unknown>) =>
  sql<boolean>`exists (select from run_stops where run_stops.run_id = ${runId})`

/** The reason why the lookups and tasks of a stopped run are parked; for use inside a statement over `runs`. */
const parkedReason = sql<string>`coalesce((
  select 'stopped by ' || stopped_by || case reason when '' then '' else ': ' || reason end
  from run_stops where run_stops.run_id = runs.id), 'its run is stopped')`

/**
 * True for a free lookup that completes a record of which something was paid. It goes on although its run is stopped: nothing is
 * bought by it, and the answer that was paid for would else wait unwritten.
 */
export const completesPaid = sql<boolean>`(lookups.operation in (${sql.join(freeOperations.map((operation) => sql.lit(operation)))})
  and exists (select from tasks where tasks.waiting_for = lookups.key and tasks.steps != '{}'))`

/**
 * Parks the lookups of stopped runs, because the enqueuer would otherwise lease them again and again. A lookup that an
 * active run waits for too moves to that run. Runs of `foreground` connectors are parked only when a person stopped them: the
 * command that was broken off continues the others.
 */
export async function parkStopped(db: Database, now: Date, foreground: readonly string[]): Promise<void> {
  const chosen = sql`(runs.connector <> all(${foregroundNames(foreground)}) or ${isStoppedByPerson(sql`runs.id`)})`
  // Called every two seconds with rarely anything to do, so the lookups are searched only when a run is stopped.
  const { rows } = await sql`select from runs where state = 'stopped' and ${chosen} limit 1`.execute(db)
  if (rows.length > 0) await parkRuns(db, sql`${chosen} and not ${completesPaid}`, now)
}

/** Parks what may not be bought any more of one run that a person stops. */
export function parkStoppedRun(db: Database, id: string, now: Date): Promise<void> {
  return parkRuns(db, sql`runs.id = ${id} and not ${completesPaid}`, now)
}

/** Parks all that is left of one run that a person stopped, once its process has ended its work. */
export function parkLeftOfRun(db: Database, id: string, now: Date): Promise<void> {
  return parkRuns(db, sql`runs.id = ${id}`, now)
}

async function parkRuns(db: Database, chosen: RawBuilder<unknown>, now: Date): Promise<void> {
  // A lookup with a time of its own waits for the person as well; one that needs a person's remedy keeps its reason.
  const open = sql`(lookups.state = 'waiting' or lookups.state = 'parked' and lookups.due_at < ${indefinitely}
    and ${isStoppedByPerson(sql`runs.id`)})`
  await sql`
    with shared as (
      select distinct on (lookups.key) lookups.key, others.id as run_id, others.connector
      from lookups
      join runs on runs.id = lookups.run_id and runs.state = 'stopped' and ${chosen}
      join lookups as asked on asked.key = lookups.key or asked.bundle_key = lookups.key
      join tasks on tasks.waiting_for = asked.key and tasks.status in ('looking_up', 'parked')
      join runs as others on others.id = tasks.run_id and others.state in ('scanning', 'working')
      where ${open}
      order by lookups.key, others.id
    )
    update lookups set run_id = shared.run_id, connector = shared.connector from shared where lookups.key = shared.key`.execute(
    db,
  )
  await sql`
    with mine as (
      select lookups.key, ${parkedReason} as reason from lookups join runs on runs.id = lookups.run_id
      where runs.state = 'stopped' and ${chosen} and ${open}
      order by lookups.key collate "C" for no key update of lookups skip locked
    ), parked as (
      update lookups set state = 'parked', due_at = ${indefinitely}, queued_until = null, code = ${runStoppedCode},
        reason = mine.reason
      from mine where lookups.key = mine.key returning lookups.key, mine.reason
    )
    update tasks set status = 'parked', reason = parked.reason, updated_at = ${now}
    from parked, lookups as asked
    where (asked.key = parked.key or asked.bundle_key = parked.key) and waiting_for = asked.key
      and status in ('looking_up', 'parked')`.execute(db)
}

/** Unparks the lookups of runs that were started again, and reopens their tasks in the same statement. */
export async function unparkStarted(db: Database, now: Date): Promise<void> {
  await sql`
    with resumed as (
      update lookups set state = 'waiting', due_at = ${now}, queued_until = null, reason = null
      from runs where runs.id = lookups.run_id and runs.state in ('scanning', 'working', 'parked')
        and lookups.state = 'parked' and code = ${runStoppedCode}
      returning key
    )
    update tasks set status = 'looking_up', reason = null, updated_at = ${now}
    from resumed, lookups as asked
    where (asked.key = resumed.key or asked.bundle_key = resumed.key) and waiting_for = asked.key and status = 'parked'`.execute(
    db,
  )
}

/** The work stays parked until its command is started again, and nobody holds it any more. */
export async function nameAsStopped(db: Database, runId: string, at: Date): Promise<void> {
  await sql`
    with held as (
      update lookups set reason = 'its run is stopped'
      where run_id = ${runId} and state = 'parked' and code = ${runStoppedCode} returning key
    )
    update tasks set reason = 'its run is stopped', updated_at = ${at}
    from held, lookups as asked
    where (asked.key = held.key or asked.bundle_key = held.key) and waiting_for = asked.key and status = 'parked'`.execute(
    db,
  )
}

/** The names as literals: with a parameter in their place the planner could not use the index `lookups_of_csv`. */
export function foregroundNames(connectors: readonly string[]) {
  return sql`array[${sql.join(connectors.map((name) => sql.lit(name)))}]::text[]`
}

/** Forgets who stopped these runs, because they have ended. */
export async function forgetStops(db: Database, runIds: readonly string[]): Promise<void> {
  if (runIds.length > 0) await sql`delete from run_stops where run_id = any(${[...runIds]})`.execute(db)
}
