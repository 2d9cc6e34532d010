import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

export interface DueDelivery {
  digest: string
  body: string
  tries: number
}

/** The deliveries of monitors. Each is stored before the response is sent, and processed after it. */
export interface MonitorDeliveries {
  /** Returns false for a delivery that was received before. */
  add(digest: string, body: string): Promise<boolean>
  /** Leases deliveries for `leaseMs`, so that one process works on each, and another takes it over after a crash. */
  lease(options: { limit: number; leaseMs: number }): Promise<DueDelivery[]>
  postpone(digest: string, dueAt: Date, reason: string): Promise<void>
  /** Stores the result of a delivery, and deletes its body. */
  finish(digest: string, result: { records: number; unknown: number; reason: string | null }): Promise<void>
  /** Adds a skipped task for each company without a known record, so that it is visible. It costs nothing. */
  addUnknown(runId: string, names: readonly string[], recipe: string, reason: string): Promise<void>
  prune(before: Date): Promise<void>
}

export function createMonitorDeliveries(db: Database, { now }: { now: () => Date }): MonitorDeliveries {
  return {
    async add(digest, body) {
      const at = now()
      const row = await db
        .insertInto('monitor_deliveries')
        .values({ digest, body, received_at: at, due_at: at })
        .onConflict((conflict) => conflict.column('digest').doNothing())
        .returning('digest')
        .executeTakeFirst()
      return row !== undefined
    },

    async lease({ limit, leaseMs }) {
      const at = now()
      const { rows } = await sql<DueDelivery>`
        with due as (
          select digest from monitor_deliveries where done_at is null and due_at <= ${at}
          order by due_at limit ${limit} for update skip locked
        )
        update monitor_deliveries set due_at = ${new Date(at.getTime() + leaseMs)}, tries = tries + 1
        from due where monitor_deliveries.digest = due.digest
        returning monitor_deliveries.digest, coalesce(body, '{}') as body, tries`.execute(db)
      return rows
    },

    async postpone(digest, dueAt, reason) {
      await db
        .updateTable('monitor_deliveries')
        .set({ due_at: dueAt, reason })
        .where('digest', '=', digest)
        .execute()
    },

    async finish(digest, { records, unknown, reason }) {
      await db
        .updateTable('monitor_deliveries')
        .set({ done_at: now(), body: null, records, unknown, reason })
        .where('digest', '=', digest)
        .execute()
    },

    async addUnknown(runId, names, recipe, reason) {
      if (names.length === 0) return
      const at = now()
      await db.transaction().execute(async (tx) => {
        const run = await tx
          .insertInto('runs')
          .values({
            id: runId,
            connector: 'monitor',
            object: 'company',
            entity: 'company',
            recipe,
            trigger: 'monitor',
            state: 'finished',
            fingerprint: `monitor|${runId}`,
            source: JSON.stringify({ caller: 'monitor', records: names.length }),
            records: names.length,
            scanned_at: at,
            started_at: at,
            finished_at: at,
          })
          // Conflict: a process died between this and the end of its delivery. Its tasks are stored already.
          .onConflict((conflict) => conflict.doNothing())
          .returning('id')
          .executeTakeFirst()
        if (!run) return
        // All names go as one parameter, because a statement takes at most 65,535.
        await sql`
          insert into tasks (run_id, ordinal, record_id, identity, status, reason, updated_at)
          select ${runId}, place::int, name, '{}', 'skipped', ${reason}, ${at}::timestamptz
          from jsonb_array_elements_text(${JSON.stringify(names)}::jsonb) with ordinality as given (name, place)`.execute(
          tx,
        )
      })
    },

    async prune(before) {
      await db.deleteFrom('monitor_deliveries').where('done_at', '<', before).execute()
    },
  }
}
