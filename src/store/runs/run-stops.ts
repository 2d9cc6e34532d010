import { sql, type Transaction } from 'kysely'
import type { Database } from '../database/database.ts'
import { readableText } from '../database/parameters.ts'
import type { Tables } from '../database/tables/schema.ts'
import type { RunState } from '../database/tables/states.ts'
import { completesPaid, nameAsStopped, parkStoppedRun, runStatesLock, unparkStarted } from './parked-runs.ts'

/** The person who stopped a run, and the reason. */
export interface RunStop {
  by: string
  /** Blank when the person gave none. */
  reason: string
  at: Date
}

/** Returns the reason that the records of a stopped run bear; the statement that parks them writes the same. */
export function stopText({ by, reason }: Pick<RunStop, 'by' | 'reason'>): string {
  return reason === '' ? `stopped by ${by}` : `stopped by ${by}: ${reason}`
}

/** The part that carries a resumed run on. */
export type RunResumed =
  /** The workers: every record of it is a task. */
  | 'workers'
  /** A scheduler, which reads the rest of the source first. */
  | 'scheduler'
  /** The command that began it, when a person starts it again: a file, or a sync with conditions of its own. */
  | 'command'

/**
 * Stops one run until a person resumes it: in every process, across restarts, and also for its schedule. Returns false when
 * the run has ended; a second order changes nothing and leaves who gave the first.
 *
 * Requests on their way are waited for: an answer that arrives is stored and written. A record that was paid for gets what
 * is free for it, such as a logo, and is written. Nothing else is bought for the run,
 * by the row in `run_stops`, which the transactions that reserve and send a charge read themselves (ledger/reserve-charges.ts,
 * ledger/purchase-steps.ts). Parking shows the rest and spares its jobs; it protects no money.
 *
 * Crash windows:
 * - Killed before this transaction commits: nothing is stopped, and the person was told nothing else.
 * - Killed after it: the row holds. Jobs that are in the queue end at once, since their run is stopped.
 * - A charge that was reserved before and is not yet sent: the statement that marks it as sent sees the row, so that no byte
 *   leaves. The charge stays journaled: it is sent after a resume, or withdrawn by the resolver when its time is over.
 * - A charge that was sent before: its answer is stored as always; without one, the chain decides what became of it. It is
 *   not sent again unless the chain says that the money has moved.
 * - A lookup that a reservation has locked at this moment is left out here, and parked by the next call of `parkStopped`.
 * - A task that advances afterwards may ask for its next lookup: the same call parks it.
 * - A free lookup that completes a paid record goes on waiting; killed before its answer, it is asked again. Where nothing
 *   works on the run any more, its command parks it at its end.
 * - A process that scans for the run stores pages until it notices; their lookups are parked in the same way.
 */
export async function stopRun(
  db: Database,
  id: string,
  { by, reason, now }: { by: string; reason: string; now: Date },
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${runStatesLock})`.execute(tx)
    // The occurrence is stopped before its run, as at the end of a window: whoever scans for it then loses its lease.
    const why = readableText(stopText({ by, reason }))
    await sql`
      update schedule_turns set state = 'stopped', reason = ${why}, holder = null, lease_until = null, changed_at = ${now}
      where run_id = ${id} and state in ('due', 'scanning', 'handed_over')
        and exists (select from runs where id = ${id} and state in ('scanning', 'working', 'parked', 'stopped'))`.execute(
      tx,
    )
    const { rows } = await sql<{ id: string }>`
      update runs set state = 'stopped' where id = ${id} and state in ('scanning', 'working', 'parked', 'stopped')
      returning id`.execute(tx)
    if (rows.length === 0) return false
    await tx
      .insertInto('run_stops')
      .values({ run_id: id, stopped_by: readableText(by), reason: readableText(reason), stopped_at: now })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await parkStoppedRun(tx, id, now)
    await sql`
      update tasks set reason = ${why}, updated_at = ${now} where run_id = ${id} and status = 'queued'`.execute(
      tx,
    )
    return true
  })
}

/**
 * Resumes a stopped run. Returns what carries it on, or undefined when it is not stopped. Crash window: all of it is one
 * transaction; killed before the commit, the run is still stopped.
 */
export async function resumeRun(
  db: Database,
  id: string,
  { now, background }: { now: Date; background: readonly string[] },
): Promise<RunResumed | undefined> {
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(${runStatesLock})`.execute(tx)
    const run = await tx
      .selectFrom('runs')
      .select(['connector', 'scanned_at'])
      .where('id', '=', id)
      .where('state', '=', 'stopped')
      .forUpdate()
      .executeTakeFirst()
    if (!run) return undefined
    await tx.deleteFrom('run_stops').where('run_id', '=', id).execute()
    await sql`
      update tasks set reason = null, updated_at = ${now} where run_id = ${id} and status = 'queued'`.execute(
      tx,
    )
    if (!background.includes(run.connector)) {
      await nameAsStopped(tx, id, now)
      return 'command'
    }
    const carriedOn = await continueOccurrence(tx, id, run.scanned_at === null ? 'due' : 'handed_over', now)
    if (run.scanned_at === null && !carriedOn) {
      await nameAsStopped(tx, id, now)
      return 'command'
    }
    await tx
      .updateTable('runs')
      .set({ state: (run.scanned_at === null ? 'scanning' : 'working') satisfies RunState })
      .where('id', '=', id)
      .execute()
    await unparkStarted(tx, now)
    return run.scanned_at === null ? 'scheduler' : 'workers'
  })
}

/** The person who resumes decides about the time, so the window of the schedule does not end it again. */
async function continueOccurrence(
  tx: Transaction<Tables>,
  runId: string,
  state: 'due' | 'handed_over',
  at: Date,
): Promise<boolean> {
  const { rows } = await sql`
    update schedule_turns set state = ${state}, reason = 'resumed', start_by = null, stop_at = null, not_before = ${at},
      holder = null, lease_until = null, changed_at = ${at}
    where id = (select max(id) from schedule_turns where run_id = ${runId}) returning id`.execute(tx)
  return rows.length > 0
}

export async function stopOf(db: Database, id: string): Promise<RunStop | undefined> {
  const row = await db.selectFrom('run_stops').selectAll().where('run_id', '=', id).executeTakeFirst()
  return row && { by: row.stopped_by, reason: row.reason, at: row.stopped_at }
}

/** True while a request of the run is on its way, or a record that was paid for is not yet complete or written. */
export async function isUnderWay(db: Database, runId: string): Promise<boolean> {
  const { rows } = await sql<{ under_way: boolean }>`
    select exists (select from charges where run_id = ${runId} and state = 'sent')
      or exists (select from tasks where run_id = ${runId} and status = 'ready')
      or exists (select from lookups where run_id = ${runId} and state = 'waiting' and ${completesPaid}) as under_way`.execute(
    db,
  )
  return rows[0]?.under_way ?? false
}
