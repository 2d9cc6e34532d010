import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Database } from '../database/database.ts'

/**
 * The lookups that a process works on: those of one run, or those of all runs of some connectors. A process never buys a
 * lookup that it was not asked to buy.
 */
export type LeaseOwner = { runId: string } | { connectors: string[] }

export interface LookupLeases {
  /**
   * Leases up to `limit` due lookups of these runs to the queue, the longest due first. Includes parked ones whose time has
   * come.
   */
  lease(limit: number, leaseMs: number, hot: boolean, owner: LeaseOwner): Promise<LookupKey[]>
  /** Ends all leases. Called after the queue was emptied, so that their lookups can be added again at once. */
  dropLeases(): Promise<number>
  /** Makes the parked lookups of a run due. Called when a person starts the run again. Returns how many there were. */
  unpark(runId: string): Promise<number>
  /** Makes the lookups due that one of these codes has parked. Called when the cause is gone. Returns how many there were. */
  unparkBy(codes: string[]): Promise<number>
}

export function createLookupLeases(db: Database, { now }: { now: () => Date }): LookupLeases {
  return {
    async lease(limit, leaseMs, hot, owner) {
      const owned =
        'runId' in owner ? sql`run_id = ${owner.runId}` : sql`connector = any(${owner.connectors})`
      const at = now()
      return db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ key: LookupKey; was_parked: boolean }>`
          with due as (
            select key, state from lookups
            where state in ('waiting', 'parked') and hot = ${hot} and due_at <= ${at} and ${owned} and bundle_key is null
              and (queued_until is null or queued_until <= ${at})
            order by due_at limit ${limit} for update skip locked
          )
          update lookups set state = 'waiting', queued_until = ${new Date(at.getTime() + leaseMs)}
          from due where lookups.key = due.key
          returning lookups.key, due.state = 'parked' as was_parked`.execute(tx)
        const resumed = rows.filter((row) => row.was_parked).map((row) => row.key)
        if (resumed.length > 0) {
          await tx
            .updateTable('tasks')
            .set({ status: 'looking_up', reason: null, updated_at: at })
            .where(waitsForOneOf(resumed))
            .where('status', '=', 'parked')
            .execute()
        }
        return rows.map((row) => row.key)
      })
    },

    async dropLeases() {
      const { numUpdatedRows } = await db
        .updateTable('lookups')
        .set({ queued_until: null })
        .where('state', '=', 'waiting')
        .where('queued_until', 'is not', null)
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },

    async unpark(runId) {
      const at = now()
      // A lookup that was never tried has nothing to wait for: a process whose clock ran ahead asked for it.
      await sql`
        update lookups set due_at = ${at}, queued_until = null
        where run_id = ${runId} and state = 'waiting' and tries = 0 and query_id is null and due_at > ${at}`.execute(
        db,
      )
      // Reopens the tasks in the same statement: a run whose tasks all still looked parked would end at once.
      const { rows } = await sql<{ resumed: number }>`
        with resumed as (
          update lookups set state = 'waiting', due_at = ${at}, queued_until = null, run_id = ${runId}
          where state = 'parked' and key in (
            select coalesce(bundle_key, key) from lookups
            join tasks on tasks.waiting_for = lookups.key and tasks.run_id = ${runId})
          returning key
        ), opened as (
          update tasks set status = 'looking_up', reason = null, updated_at = ${at}
          from resumed join lookups as asked on asked.key = resumed.key or asked.bundle_key = resumed.key
          where waiting_for = asked.key and status = 'parked'
        )
        select count(*)::int as resumed from resumed`.execute(db)
      return rows[0]?.resumed ?? 0
    },

    async unparkBy(codes) {
      const { numUpdatedRows } = await db
        .updateTable('lookups')
        .set({ due_at: now(), queued_until: null })
        .where('state', '=', 'parked')
        .where('code', 'in', codes)
        .executeTakeFirst()
      return Number(numUpdatedRows)
    },
  }
}

/** True for tasks that wait for one of these lookups, or for a member of one of these batches. */
export function waitsForOneOf(keys: readonly LookupKey[]) {
  return sql<boolean>`waiting_for in (select key from lookups where key = any(${[...keys]}) or bundle_key = any(${[...keys]}))`
}
