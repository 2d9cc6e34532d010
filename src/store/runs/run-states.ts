import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { RunState } from '../database/tables/states.ts'
import {
  foregroundNames,
  forgetStops,
  isStoppedByPerson,
  parkStopped,
  runStatesLock,
  unparkStarted,
} from './parked-runs.ts'

export interface RunMove {
  id: string
  connector: string
  entity: string
  from: RunState
  to: RunState
}

/**
 * Derives the states of runs from their tasks, for runs that no command drives. One process at a time does this, and a
 * repeated call changes nothing.
 *
 * A run whose scan is complete is `working` while a task is open, `parked` when all open tasks are parked (and `working`
 * again when one of them is unparked), and `finished` when no task is open. A `stopped` run stays stopped until a person
 * starts it, unless all its tasks have ended; one that a person stopped, until a person resumes it. Runs of
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
        select id, state, ${isStoppedByPerson(sql`runs.id`)} as is_held,
          exists (select 1 from tasks where run_id = runs.id and status in ('queued', 'looking_up', 'ready')) as has_open,
          exists (select 1 from tasks where run_id = runs.id and status = 'parked') as has_parked
        from runs
        where scanned_at is not null and state in ('scanning', 'working', 'parked', 'stopped') and connector <> all(${foregroundNames(foreground)})
      ), moves as (
        select id, state as from_state, case
          when not has_open and not has_parked then 'finished'
          when is_held then 'stopped'
          when state = 'stopped' then 'stopped'
          when has_open then 'working' else 'parked' end as to_state
        from observed
      )
      update runs set state = to_state, finished_at = case when to_state = 'finished' then ${now}::timestamptz end
      from moves where runs.id = moves.id and runs.state = from_state and to_state <> from_state
      returning runs.id, connector, entity, from_state as "from", to_state as "to"`.execute(tx)
    await forgetStops(
      tx,
      moves.filter(({ to }) => to === 'finished').map(({ id }) => id),
    )
    await parkStopped(tx, now, foreground)
    await unparkStarted(tx, now)
    return moves
  })
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
      join runs as others on others.id = tasks.run_id and others.connector <> all(${foregroundNames(foreground)})
        and others.state in ('scanning', 'working', 'parked')
      where owned.connector = any(${foregroundNames(foreground)}) and owned.bundle_key is null
        -- Where no such run is, the lookups that wait are not read: a night's are 100,000, twice a minute.
        and exists (select from runs where connector = any(${foregroundNames(foreground)})
          and state in ('stopped', 'parked', 'finished', 'failed'))
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
