import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

export interface DueDelivery {
  digest: string
  body: string
  tries: number
  receivedAt: Date
}

/** The end of a delivery. `worked`: at least one of its signals was new. */
type DeliveryOutcome = 'worked' | 'repeated' | 'test' | 'malformed' | 'no_company' | 'failed'

interface DeliveryMeanings {
  /** The service's id of the monitor; empty where the delivery names none. */
  monitor: string
  triggeredAt: Date | null
  isLate: boolean
  signals: readonly { meaning: string; company: string | null }[]
}

/** The deliveries of monitors. Each is stored before the response is sent, and processed after it. */
export interface MonitorDeliveries {
  /** Returns false for a delivery that was received before. */
  add(digest: string, body: string): Promise<boolean>
  /** Leases deliveries for `leaseMs`, so that one process works on each, and another takes it over after a crash. */
  lease(options: { limit: number; leaseMs: number }): Promise<DueDelivery[]>
  postpone(digest: string, dueAt: Date, reason: string): Promise<void>
  /** Stores the result of a delivery, and deletes its body. */
  finish(
    digest: string,
    result: { records: number; unknown: number; reason: string | null; outcome: DeliveryOutcome },
  ): Promise<void>
  /**
   * Decides in one transaction which meanings the delivery brought first, and returns them. Called again for the same delivery, it
   * returns the same. Stores also if the delivery came late or after a later one.
   */
  admit(digest: string, delivery: DeliveryMeanings): Promise<Set<string>>
  /** Returns how many deliveries there were of each monitor, by outcome and timing. */
  outcomes(): Promise<
    { monitor: string; outcome: string; timing: string; deliveries: number; repeats: number }[]
  >
  /** Adds a skipped task for each company without a known record, so that it is visible. It costs nothing. */
  addUnknown(runId: string, names: readonly string[], recipe: string, reason: string): Promise<void>
  /** A meaning that is no more than its text is kept only as long as deliveries: the same text may be news later. */
  prune(before: { deliveries: Date; seen: Date }): Promise<void>
}

export function createMonitorDeliveries(db: Database, { now }: { now: () => Date }): MonitorDeliveries {
  return {
    async add(digest, body) {
      const at = now()
      const row = await db
        .insertInto('monitor_deliveries')
        .values({ digest, body, received_at: at, due_at: at })
        .onConflict((conflict) =>
          conflict.column('digest').doUpdateSet({ repeats: sql<bigint>`monitor_deliveries.repeats + 1` }),
        )
        .returning('repeats')
        .executeTakeFirstOrThrow()
      return Number(row.repeats) === 0
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
        returning monitor_deliveries.digest, coalesce(body, '{}') as body, tries,
          received_at as "receivedAt"`.execute(db)
      return rows
    },

    async postpone(digest, dueAt, reason) {
      await db
        .updateTable('monitor_deliveries')
        .set({ due_at: dueAt, reason })
        .where('digest', '=', digest)
        .execute()
    },

    async admit(digest, { monitor, triggeredAt, isLate, signals }) {
      const unique = new Map(signals.map((each) => [each.meaning, each]))
      // Sorted, so that two deliveries of the same meanings wait for each other and never in a circle.
      const given = [...unique.values()].toSorted((a, b) => (a.meaning < b.meaning ? -1 : 1))
      return db.transaction().execute(async (tx) => {
        await sql`
          insert into monitor_seen (monitor, meaning, digest, company, seen_at)
          select ${monitor}, given.meaning, ${digest}, given.company, ${now()}::timestamptz
          from jsonb_to_recordset(${JSON.stringify(given)}::jsonb) as given (meaning text, company text)
          order by given.meaning collate "C"
          on conflict do nothing`.execute(tx)
        await sql`
          update monitor_deliveries set monitor = ${monitor}, triggered_at = ${triggeredAt}::timestamptz,
            timing = case
              when ${isLate} then 'late'
              when exists (
                select from monitor_deliveries as later
                where later.monitor = ${monitor} and later.triggered_at > ${triggeredAt}::timestamptz
              ) then 'out_of_order'
              else 'on_time' end
          where digest = ${digest}`.execute(tx)
        const rows = await tx
          .selectFrom('monitor_seen')
          .select('meaning')
          .where('monitor', '=', monitor)
          .where('digest', '=', digest)
          .execute()
        return new Set(rows.map(({ meaning }) => meaning))
      })
    },

    async outcomes() {
      const { rows } = await sql<{
        monitor: string
        outcome: string
        timing: string
        deliveries: number
        repeats: number
      }>`
        select coalesce(monitor, '') as monitor, coalesce(outcome, 'waiting') as outcome,
          coalesce(timing, 'on_time') as timing, count(*)::int as deliveries, sum(repeats)::int as repeats
        from monitor_deliveries group by 1, 2, 3 order by 1, 2, 3`.execute(db)
      return rows
    },

    async finish(digest, { records, unknown, reason, outcome }) {
      await db
        .updateTable('monitor_deliveries')
        .set({ done_at: now(), body: null, records, unknown, reason, outcome })
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
      await db.deleteFrom('monitor_deliveries').where('done_at', '<', before.deliveries).execute()
      await db
        .deleteFrom('monitor_seen')
        .where('seen_at', '<', before.deliveries)
        .where(({ eb, or }) => or([eb('seen_at', '<', before.seen), eb('meaning', 'like', 'text:%')]))
        .execute()
    },
  }
}
