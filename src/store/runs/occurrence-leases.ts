import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { OccurrenceState } from '../database/tables/states.ts'
import { isStoppedByPerson, unparkStarted } from './parked-runs.ts'
import { toOccurrence, type Occurrence } from './schedule-occurrences.ts'

export interface OccurrenceLeases {
  /** Returns the occurrences that can be claimed now: due ones, and those whose holder has not renewed its lease. */
  claimable(): Promise<bigint[]>
  /**
   * Leases an occurrence to a holder. Returns undefined, and delays the occurrence by `retryMs`, when another process holds
   * it or a run of its connector and entity is active. Also resumes what earlier occurrences of the schedule left stopped: a
   * run whose scan was cut off becomes this occurrence's run.
   */
  claim(
    id: bigint,
    holder: string,
    options: { leaseMs: number; retryMs: number },
  ): Promise<Occurrence | undefined>
  /** Returns false when the holder has lost the occurrence, or its run was stopped. */
  renew(id: bigint, holder: string, leaseMs: number): Promise<boolean>
  setRun(id: bigint, holder: string, runId: string): Promise<void>
  /** Ends the lease with a new state. Does nothing when the holder has lost the occurrence. */
  finishOccurrence(
    id: bigint,
    holder: string,
    end: { state: OccurrenceState; reason?: string | undefined; notBefore?: Date | undefined },
  ): Promise<void>
}

/** The space of the advisory locks by connector and entity. The number is arbitrary. */
const lockSpace = 7_290_007

export function createOccurrenceLeases(db: Database, { now }: { now: () => Date }): OccurrenceLeases {
  return {
    async claimable() {
      const at = now()
      const rows = await db
        .selectFrom('schedule_turns')
        .select('id')
        .where((eb) =>
          eb.or([
            eb.and([eb('state', '=', 'due'), eb('not_before', '<=', at)]),
            eb.and([eb('state', '=', 'scanning'), eb('lease_until', '<=', at)]),
          ]),
        )
        .orderBy('planned_at')
        .limit(100)
        .execute()
      return rows.map(({ id }) => id)
    },

    claim: (id, holder, lease) => claim(db, id, holder, { ...lease, at: now() }),

    async renew(id, holder, leaseMs) {
      const { numUpdatedRows } = await db
        .updateTable('schedule_turns')
        .set({ lease_until: new Date(now().getTime() + leaseMs) })
        .where('id', '=', id)
        .where('holder', '=', holder)
        .where('state', '=', 'scanning')
        .where(({ not, exists, selectFrom }) =>
          not(
            exists(
              selectFrom('runs')
                .select('runs.id')
                .whereRef('runs.id', '=', 'schedule_turns.run_id')
                .where('runs.state', '=', 'stopped'),
            ),
          ),
        )
        .executeTakeFirst()
      return numUpdatedRows > 0n
    },

    async setRun(id, holder, runId) {
      await db
        .updateTable('schedule_turns')
        .set({ run_id: runId })
        .where('id', '=', id)
        .where('holder', '=', holder)
        .execute()
    },

    async finishOccurrence(id, holder, { state, reason, notBefore }) {
      await db
        .updateTable('schedule_turns')
        .set({
          state,
          reason: reason ?? null,
          holder: null,
          lease_until: null,
          changed_at: now(),
          not_before: notBefore,
        })
        .where('id', '=', id)
        .where('holder', '=', holder)
        .where('state', '=', 'scanning')
        .execute()
    },
  }
}

async function claim(
  db: Database,
  id: bigint,
  holder: string,
  { leaseMs, retryMs, at }: { leaseMs: number; retryMs: number; at: Date },
): Promise<Occurrence | undefined> {
  return db.transaction().execute(async (tx) => {
    const wanted = await tx.selectFrom('schedule_turns').selectAll().where('id', '=', id).executeTakeFirst()
    if (!wanted) return undefined
    const source = `${wanted.connector}/${wanted.entity}`
    await sql`select pg_advisory_xact_lock(${lockSpace}, hashtext(${source}))`.execute(tx)
    const { rows: busy } = await sql<{ id: bigint }>`
      select other.id from schedule_turns as other left join runs on runs.id = other.run_id
      where other.id <> ${id} and other.connector = ${wanted.connector} and other.entity = ${wanted.entity}
        and (other.state = 'scanning' or other.state = 'handed_over' and runs.state in ('scanning', 'working'))
      limit 1`.execute(tx)
    const open = tx
      .updateTable('schedule_turns')
      .where('id', '=', id)
      .where((eb) =>
        eb.or([eb('run_id', 'is not', null), eb('start_by', 'is', null), eb('start_by', '>=', at)]),
      )
      .where((eb) => eb.or([eb('stop_at', 'is', null), eb('stop_at', '>', at)]))
      .where((eb) =>
        eb.or([
          eb.and([eb('state', '=', 'due'), eb('not_before', '<=', at)]),
          eb.and([eb('state', '=', 'scanning'), eb('lease_until', '<=', at)]),
        ]),
      )
    if (busy.length > 0) {
      await open
        .set({
          not_before: new Date(at.getTime() + retryMs),
          reason: 'waits for the run before it',
          changed_at: at,
        })
        .execute()
      return undefined
    }
    const claimed = await open
      .set({
        state: 'scanning',
        holder,
        lease_until: new Date(at.getTime() + leaseMs),
        reason: null,
        changed_at: at,
      })
      .returningAll()
      .executeTakeFirst()
    return claimed && resumeStopped(tx, toOccurrence(claimed), at)
  })
}

/**
 * Resumes the runs that earlier occurrences of the schedule left stopped. Runs that were scanned to the end are worked on
 * again, within this occurrence's window. Of the others the oldest becomes this occurrence's run: it reads on to the end of
 * the source, so nothing is left for the rest.
 */
async function resumeStopped(tx: Database, occurrence: Occurrence, at: Date): Promise<Occurrence> {
  if (occurrence.schedule === null) return occurrence
  const stopped = await tx
    .selectFrom('schedule_turns as earlier')
    .innerJoin('runs', 'runs.id', 'earlier.run_id')
    .select(['earlier.id', 'earlier.run_id', 'runs.scanned_at'])
    .where('schedule', '=', occurrence.schedule)
    .where('earlier.entity', '=', occurrence.entity)
    .where('earlier.id', '!=', occurrence.id)
    .where('earlier.state', 'in', ['stopped', 'failed'])
    .where('runs.state', '=', 'stopped')
    // Only a person resumes a run that a person stopped.
    .where(({ not }) => not(isStoppedByPerson(sql`runs.id`)))
    .orderBy('earlier.planned_at')
    .execute()
  const scanned = stopped.filter(({ scanned_at }) => scanned_at !== null)
  if (scanned.length > 0) {
    await tx
      .updateTable('schedule_turns')
      .set({ state: 'handed_over', stop_at: occurrence.stopAt, reason: 'resumed', changed_at: at })
      .where(
        'id',
        'in',
        scanned.map(({ id }) => id),
      )
      .execute()
    await tx
      .updateTable('runs')
      .set({ state: 'working' })
      .where(
        'id',
        'in',
        scanned.flatMap(({ run_id: run }) => (run === null ? [] : [run])),
      )
      .where('state', '=', 'stopped')
      .execute()
  }
  const cutOff = occurrence.runId === null && stopped.find(({ scanned_at }) => scanned_at === null)
  // Before its holder renews the lease for the first time: the lease of a stopped run is not renewed.
  if (cutOff && cutOff.run_id !== null)
    await tx.updateTable('runs').set({ state: 'scanning' }).where('id', '=', cutOff.run_id).execute()
  await unparkStarted(tx, at)
  if (!cutOff) return occurrence
  await tx
    .updateTable('schedule_turns')
    .set({ run_id: cutOff.run_id })
    .where('id', '=', occurrence.id)
    .execute()
  return { ...occurrence, runId: cutOff.run_id }
}
