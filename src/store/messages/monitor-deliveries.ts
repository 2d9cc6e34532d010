import { sql } from 'kysely'
import { defaultNetworkHosts, underAllHosts } from '../../domain/keys.ts'
import { operationRow, operationsAbout } from '../../domain/operations.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

export interface DueDelivery {
  digest: string
  body: string
  tries: number
}

/** A company in a delivery, by canonical profile and domain, where the delivery has them. */
export interface NamedCompany {
  profile: string | null
  domain: string | null
}

/** A CRM record that an earlier run has seen. */
export interface KnownRecord {
  connector: string
  entity: string
  object: ObjectKind
  recordId: string
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
  /** Returns the CRM records that earlier runs have seen under a profile or domain, with the index of the company. */
  known(
    companies: readonly NamedCompany[],
    connectors: readonly string[],
  ): Promise<(KnownRecord & { place: number })[]>
  /** Adds a skipped task for each company without a known record, so that it is visible. It costs nothing. */
  addUnknown(runId: string, names: readonly string[], recipe: string, reason: string): Promise<void>
  prune(before: Date): Promise<void>
}

/** Operations whose keys name a company by its profile. */
const keyedByProfile = operationsAbout('company').filter((operation) =>
  operationRow(operation).keyedBy.includes('profile'),
)

export function createMonitorDeliveries(
  db: Database,
  { now, hosts = defaultNetworkHosts }: { now: () => Date; hosts?: readonly string[] },
): MonitorDeliveries {
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

    async known(companies, connectors) {
      if (companies.length === 0 || connectors.length === 0) return []
      // Tasks of older versions are kept under the host that their record named.
      const wanted = JSON.stringify(
        companies.flatMap(({ profile, domain }, place) =>
          (profile === null ? [null] : underAllHosts(profile, hosts)).map((name) => ({
            profile: name,
            domain,
            place,
          })),
        ),
      )
      // Records hold domains as people typed them. Scheme, www. and path are removed here as in domain/keys.ts. The join on
      // the result reads each record once, however many companies a delivery names.
      const { rows } = await sql<KnownRecord & { place: number }>`
        with wanted as (
          select * from jsonb_to_recordset(${wanted}::jsonb) as wanted (profile text, domain text, place int)
        ), seen as (
          select wanted.place, tasks.run_id, tasks.record_id
          from wanted cross join unnest(${keyedByProfile}::text[]) as operation
            join tasks on tasks.lookup_key = operation || '|' || wanted.profile
          union
          select wanted.place, tasks.run_id, tasks.record_id
          from tasks join wanted on wanted.domain =
            lower(regexp_replace(regexp_replace(tasks.identity ->> 'domain', '^[a-z]+://', '', 'i'), '^(www[.])*([^/:?#]*).*$', '\\2', 'i'))
        )
        select distinct seen.place, runs.connector, runs.entity, runs.object, seen.record_id as "recordId"
        from seen join runs on runs.id = seen.run_id
        where runs.connector = any(${[...connectors]}) and runs.object = 'company' and runs.state <> 'planned'
        order by seen.place, runs.connector, runs.entity, "recordId"`.execute(db)
      return rows
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
