import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { goFirst } from '../database/go-first.ts'

export interface DueDelivery {
  digest: string
  body: string
  tries: number
  receivedAt: Date
  /** `log`: the service's log names it, and it had not been delivered when the log was read. */
  source: 'hook' | 'log'
}

/**
 * The end of a delivery. `worked`: at least one of its signals was new. `missed`: the same for an entry of the log; one whose signals came
 * meanwhile is `repeated`. Nothing is done for a monitor that was deleted, or that nothing here knows.
 */
type DeliveryOutcome =
  | 'worked'
  | 'missed'
  | 'repeated'
  | 'test'
  | 'malformed'
  | 'no_company'
  | 'unknown_monitor'
  | 'deleted_monitor'
  | 'failed'

/** The number of deliveries of a monitor that ended so. `repeats`: the same bytes came again. */
export interface DeliveryCount {
  /** The name in the settings, else the service's id; empty where a delivery names none. */
  monitor: string
  outcome: string
  timing: string
  deliveries: number
  repeats: number
}

interface DeliveryMeanings {
  /** As in `DeliveryCount`: what a monitor and the one that replaced it both name is one thing. */
  monitor: string
  triggeredAt: Date | null
  isLate: boolean
  signals: readonly { meaning: string; company: string | null }[]
}

/** The deliveries of monitors. Each is stored before the response is sent, and processed after it. */
export interface MonitorDeliveries {
  /** Returns false for a delivery that was received before. */
  add(digest: string, body: string): Promise<boolean>
  /** Counts a delivery that cannot be read. Its body is not kept. */
  addMalformed(digest: string, reason: string): Promise<void>
  /** Keeps the names of headers that nothing here reads. */
  keepHeaders(names: readonly string[]): Promise<void>
  /** Leases deliveries for `leaseMs`, so that one process works on each, and another takes it over after a crash. */
  lease(options: { limit: number; leaseMs: number }): Promise<DueDelivery[]>
  postpone(digest: string, dueAt: Date, reason: string): Promise<void>
  /** Stores the result of a delivery, and deletes its body. */
  finish(
    digest: string,
    result: {
      records: number
      unknown: number
      reason: string | null
      outcome: DeliveryOutcome
      monitor?: string
    },
  ): Promise<void>
  /**
   * Decides in one transaction which meanings the delivery brought first, and returns them. Called again for the same delivery, it
   * returns the same. Stores also if the delivery came late or after a later one.
   */
  admit(digest: string, delivery: DeliveryMeanings): Promise<Set<string>>
  /** Returns how many deliveries there were of each monitor, by outcome and timing, since the first of all. */
  outcomes(): Promise<DeliveryCount[]>
  /** Adds a skipped task for each company without a known record, so that it is visible. It costs nothing. */
  addUnknown(runId: string, names: readonly string[], recipe: string, reason: string): Promise<void>
  /** Counts deliveries and deletes them. A meaning that is no more than its text is kept only as long as deliveries: the same text may be news later. */
  prune(before: { deliveries: Date; seen: Date }): Promise<void>
}

export function createMonitorDeliveries(db: Database, { now }: { now: () => Date }): MonitorDeliveries {
  return {
    async add(digest, body) {
      const at = now()
      const stored = db
        .insertInto('monitor_deliveries')
        .values({ digest, body, received_at: at, due_at: at })
        .onConflict((conflict) =>
          conflict.column('digest').doUpdateSet({ repeats: sql<bigint>`monitor_deliveries.repeats + 1` }),
        )
        .returning('repeats')
      // Its sender waits for the answer, and the work can wait.
      const row = await goFirst(() => stored.executeTakeFirstOrThrow())
      return Number(row.repeats) === 0
    },

    async addMalformed(digest, reason) {
      const at = now()
      await db
        .insertInto('monitor_deliveries')
        .values({
          digest,
          body: null,
          received_at: at,
          due_at: at,
          done_at: at,
          outcome: 'malformed',
          reason,
        })
        .onConflict((conflict) =>
          conflict.column('digest').doUpdateSet({ repeats: sql<bigint>`monitor_deliveries.repeats + 1` }),
        )
        .execute()
    },

    async keepHeaders(names) {
      if (names.length === 0) return
      const at = now()
      await sql`
        insert into monitor_headers (name, first_seen_at, last_seen_at)
        select name, ${at}::timestamptz, ${at}::timestamptz
        from jsonb_array_elements_text(${JSON.stringify([...names].sort())}::jsonb) as given (name)
        where (select count(*) from monitor_headers) < ${mostHeaders}
        on conflict (name) do update set last_seen_at = excluded.last_seen_at`.execute(db)
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
          received_at as "receivedAt", source`.execute(db)
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
                select from monitor_newest as newest
                where newest.monitor = ${monitor} and newest.triggered_at > ${triggeredAt}::timestamptz
              ) then 'out_of_order'
              else 'on_time' end
          where digest = ${digest}`.execute(tx)
        if (triggeredAt !== null)
          await sql`
            insert into monitor_newest (monitor, triggered_at) values (${monitor}, ${triggeredAt}::timestamptz)
            on conflict (monitor) do update
              set triggered_at = greatest(monitor_newest.triggered_at, excluded.triggered_at)`.execute(tx)
        const meanings = given.map(({ meaning }) => meaning)
        // By the array, so that the index is asked for each meaning: a subquery has the planner read all that the monitor ever brought.
        const { rows } = await sql<{ meaning: string }>`
          select meaning from monitor_seen
          where monitor = ${monitor} and digest = ${digest} and meaning = any(${meanings}::text[])`.execute(
          tx,
        )
        return new Set(rows.map(({ meaning }) => meaning))
      })
    },

    outcomes: () => deliveryCounts(db),

    async finish(digest, { records, unknown, reason, outcome, monitor }) {
      await db
        .updateTable('monitor_deliveries')
        .set({
          done_at: now(),
          body: null,
          records,
          unknown,
          reason,
          outcome,
          ...(monitor !== undefined && { monitor }),
        })
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
      // One statement, so that a delivery is either there or counted.
      await sql`
        with gone as (
          delete from monitor_deliveries where done_at < ${before.deliveries}::timestamptz
          returning coalesce(monitor, '') as monitor, outcome, timing, repeats
        )
        insert into monitor_delivery_totals (monitor, outcome, timing, deliveries, repeats)
        select monitor, coalesce(outcome, 'worked'), coalesce(timing, 'on_time'), count(*), sum(repeats)
        from gone group by 1, 2, 3 order by 1, 2, 3
        on conflict (monitor, outcome, timing) do update set
          deliveries = monitor_delivery_totals.deliveries + excluded.deliveries,
          repeats = monitor_delivery_totals.repeats + excluded.repeats`.execute(db)
      await db
        .deleteFrom('monitor_seen')
        .where('seen_at', '<', before.deliveries)
        .where(({ eb, or }) => or([eb('seen_at', '<', before.seen), eb('meaning', 'like', 'text:%')]))
        .execute()
    },
  }
}

/** Every sender of a delivery can name headers, so their number is bounded. */
const mostHeaders = 200

export async function deliveryCounts(db: Database): Promise<DeliveryCount[]> {
  const { rows } = await sql<DeliveryCount>`
    select monitor, outcome, timing, sum(deliveries)::int as deliveries, sum(repeats)::int as repeats
    from (
      select coalesce(monitor, '') as monitor, coalesce(outcome, 'waiting') as outcome,
        coalesce(timing, 'on_time') as timing, count(*) as deliveries, sum(repeats) as repeats
      from monitor_deliveries group by 1, 2, 3
      union all
      select monitor, outcome, timing, deliveries, repeats from monitor_delivery_totals
    ) as counted
    group by 1, 2, 3 order by 1, 2, 3`.execute(db)
  return rows
}
