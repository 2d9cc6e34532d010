import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { RunState } from '../database/states.ts'

export interface RunMove {
  id: string
  connector: string
  entity: string
  from: RunState
  to: RunState
}

/** The code that parks the lookups of a stopped run. They are unparked when the run is started again. */
const runStoppedCode = 'run_stopped'

/** The advisory lock for changing run states and reopening tasks. The number is arbitrary. */
export const runStatesLock = 7_290_006

/**
 * Derives the states of runs from their tasks, for runs that no command drives. One process at a time does this, and a
 * repeated call changes nothing.
 *
 * A run whose scan is complete is `working` while a task is open, `parked` when all open tasks are parked (and `working`
 * again when one of them is unparked), and `finished` when no task is open. A `stopped` run stays stopped until a person
 * starts it, unless all its tasks have ended. Runs of
 * `foreground` connectors are left alone: the command that began one writes its result, and then ends it.
 */
export async function updateRunStates(
  db: Database,
  now: Date,
  foreground: readonly string[],
): Promise<RunMove[]> {
  return db.transaction().execute(async (tx) => {
    const { rows: lock } = await sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(${runStatesLock}) as taken`.execute(tx)
    if (!lock[0]?.taken) return []
    // Without this, Postgres looks for the first open task of a run by reading the table from its oldest rows.
    await sql`select set_config('enable_seqscan', 'off', true)`.execute(tx)
    // Once all tasks of a run are final they stay final (a retry takes the same lock), so a finished run stays finished.
    const { rows: moves } = await sql<RunMove>`
      with observed as (
        select id, state,
          exists (select 1 from tasks where run_id = runs.id and status in ('queued', 'looking_up', 'ready')) as has_open,
          exists (select 1 from tasks where run_id = runs.id and status = 'parked') as has_parked
        from runs
        where scanned_at is not null and state in ('scanning', 'working', 'parked', 'stopped') and connector <> all(${names(foreground)})
      ), moves as (
        select id, state as from_state, case
          when not has_open and not has_parked then 'finished'
          when state = 'stopped' then 'stopped'
          when has_open then 'working' else 'parked' end as to_state
        from observed
      )
      update runs set state = to_state, finished_at = case when to_state = 'finished' then ${now}::timestamptz end
      from moves where runs.id = moves.id and runs.state = from_state and to_state <> from_state
      returning runs.id, connector, entity, from_state as "from", to_state as "to"`.execute(tx)
    await parkStopped(tx, now, foreground)
    await unparkStarted(tx, now)
    return moves
  })
}

/**
 * Parks the lookups of stopped runs, because the enqueuer would otherwise lease them again and again. A lookup that an
 * active run waits for too moves to that run.
 */
async function parkStopped(db: Database, now: Date, foreground: readonly string[]): Promise<void> {
  // Called every two seconds with rarely anything to do, so the lookups are searched only when a run is stopped.
  const { rows } =
    await sql`select from runs where state = 'stopped' and connector <> all(${names(foreground)}) limit 1`.execute(
      db,
    )
  if (rows.length === 0) return
  await sql`
    with shared as (
      select lookups.key, min(others.id) as run_id
      from lookups
      join runs on runs.id = lookups.run_id and runs.state = 'stopped' and runs.connector <> all(${names(foreground)})
      join lookups as asked on asked.key = lookups.key or asked.bundle_key = lookups.key
      join tasks on tasks.waiting_for = asked.key and tasks.status in ('looking_up', 'parked')
      join runs as others on others.id = tasks.run_id and others.state in ('scanning', 'working')
      where lookups.state = 'waiting'
      group by lookups.key
    )
    update lookups set run_id = shared.run_id from shared where lookups.key = shared.key`.execute(db)
  await sql`
    with parked as (
      update lookups set state = 'parked', due_at = '9999-01-01T00:00:00Z', queued_until = null,
        code = ${runStoppedCode}, reason = 'its run is stopped'
      from runs
      where runs.id = lookups.run_id and runs.state = 'stopped' and runs.connector <> all(${names(foreground)}) and lookups.state = 'waiting'
      returning key
    )
    update tasks set status = 'parked', reason = 'its run is stopped', updated_at = ${now}
    from parked, lookups as asked
    where (asked.key = parked.key or asked.bundle_key = parked.key) and waiting_for = asked.key
      and status = 'looking_up'`.execute(db)
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

/**
 * Moves lookups of `foreground` runs that were broken off, or have used up their budget, to runs of other connectors that
 * wait for the same lookup. Returns how many were moved.
 */
export async function adoptOrphans(db: Database, now: Date, foreground: readonly string[]): Promise<number> {
  const { rows } = await sql<{ adopted: number }>`
    with orphan as (
      select distinct on (owned.key) owned.key, others.id as run_id, others.connector
      from lookups as owned
      join runs on runs.id = owned.run_id and runs.state in ('stopped', 'parked', 'finished', 'failed')
      join lookups as asked on asked.key = owned.key or asked.bundle_key = owned.key
      join tasks on tasks.waiting_for = asked.key and tasks.run_id <> owned.run_id
        and tasks.status in ('looking_up', 'parked')
      join runs as others on others.id = tasks.run_id and others.connector <> all(${names(foreground)})
        and others.state in ('scanning', 'working', 'parked')
      where owned.connector = any(${names(foreground)}) and owned.bundle_key is null
        and owned.state in ('waiting', 'parked') and (owned.state = 'waiting' or owned.code = 'budget_run')
      order by owned.key, others.id
    ), adopted as (
      update lookups set run_id = orphan.run_id, connector = orphan.connector, state = 'waiting', due_at = ${now},
        queued_until = null, reason = null
      from orphan where lookups.key = orphan.key returning lookups.key
    ), opened as (
      update tasks set status = 'looking_up', reason = null, updated_at = ${now}
      from adopted join lookups as asked on asked.key = adopted.key or asked.bundle_key = adopted.key
      where waiting_for = asked.key and status = 'parked'
    )
    select count(*)::int as adopted from adopted`.execute(db)
  return rows[0]?.adopted ?? 0
}

/** The names as literals: with a parameter in their place the planner could not use the index `lookups_of_csv`. */
function names(connectors: readonly string[]) {
  return sql`array[${sql.join(connectors.map((name) => sql.lit(name)))}]::text[]`
}
