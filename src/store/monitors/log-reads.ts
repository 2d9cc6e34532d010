import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** An entry of a log to be compared with the deliveries. */
export interface LoggedDetection {
  id: string
  detectedAt: Date | null
  isTest: boolean
  meanings: readonly string[]
  digest: string
  body: string
}

/** The outcome of comparing entries. Those that were compared before do not count. */
export interface ComparedEntries {
  received: number
  missing: number
  test: number
  noCompany: number
}

/** The monitors whose logs are read, with the name in the settings. */
export interface ReadableMonitor {
  name: string
  monitorId: string
  /** Entries from here on may be missing. */
  from: Date
}

/** The readings of the service's logs. */
export function createLogReads(db: Database, { now }: { now: () => Date }) {
  return {
    /**
     * Takes the monitors whose time has come, or all of them, for `everyMs`, so that one of several processes reads each log. A process
     * that dies with one leaves it to the next time.
     */
    async take(names: readonly string[], given: { everyMs: number; isForced: boolean }): Promise<string[]> {
      const at = now()
      const { rows } = await sql<{ monitor_id: string }>`
        insert into monitor_log_reads as reads (monitor_id, next_at)
        select monitor_id, ${new Date(at.getTime() + given.everyMs)}::timestamptz from declared_monitors
        where name in (select jsonb_array_elements_text(${JSON.stringify(names)}::jsonb))
        order by monitor_id
        on conflict (monitor_id) do update set next_at = excluded.next_at
          where reads.next_at <= ${at}::timestamptz or ${given.isForced}
        returning monitor_id`.execute(db)
      return rows.map(({ monitor_id: id }) => id)
    },

    /** Returns these monitors with the time from which on their entries are read: the position, else the time since which they are ours. */
    async readable(ids: readonly string[], overlapMs: number): Promise<ReadableMonitor[]> {
      const rows = await db
        .selectFrom('declared_monitors')
        .leftJoin('monitor_log_reads as reads', 'reads.monitor_id', 'declared_monitors.monitor_id')
        .select(['name', 'declared_monitors.monitor_id', 'since', 'position'])
        .where('declared_monitors.monitor_id', 'in', [...ids, ''])
        .orderBy('name')
        .execute()
      return rows.map(({ name, monitor_id, since, position }) => ({
        name,
        monitorId: monitor_id,
        from: new Date((position ?? since).getTime() - overlapMs),
      }))
    },

    /**
     * Compares entries with the deliveries, and stores those that are missing as deliveries, in one transaction: an entry that is noted
     * is never compared again, and one that is not noted has left nothing. `isPlan` compares alone.
     */
    async compare(
      { name, monitorId }: Pick<ReadableMonitor, 'name' | 'monitorId'>,
      entries: readonly LoggedDetection[],
      { isPlan }: { isPlan: boolean },
    ): Promise<ComparedEntries> {
      return db.transaction().execute(async (tx) => {
        const found = await foundOf(tx, { name, monitorId }, entries)
        const count = (word: string) => [...found.values()].filter((each) => each === word).length
        const counted = {
          received: count('received'),
          missing: count('missing'),
          test: count('test'),
          noCompany: count('no_company'),
        }
        if (isPlan || found.size === 0) return counted
        const at = now()
        const fresh = entries.filter(({ id }) => found.has(id))
        const { rows: noted } = await sql<{ entry_id: string }>`
          insert into monitor_log_entries (monitor_id, entry_id, detected_at, found, read_at)
          select ${monitorId}, given.id, given."detectedAt", given.found, ${at}::timestamptz
          from jsonb_to_recordset(${JSON.stringify(
            fresh.map(({ id, detectedAt }) => ({ id, detectedAt, found: found.get(id) })),
          )}::jsonb) as given (id text, "detectedAt" timestamptz, found text)
          order by given.id collate "C"
          on conflict do nothing returning entry_id`.execute(tx)
        const own = new Set(noted.map(({ entry_id: id }) => id))
        for (const { id, digest, body } of fresh)
          if (own.has(id) && found.get(id) === 'missing')
            await tx
              .insertInto('monitor_deliveries')
              .values({ digest, body, received_at: at, due_at: at, source: 'log' })
              .onConflict((conflict) => conflict.doNothing())
              .execute()
        return counted
      })
    },

    /** Notes the end of a reading. The position moves only when the log was read to the end. */
    async finish(
      monitorId: string,
      end: { position: Date | null; problem: string | null; nextAt: Date; status: string | null | undefined },
    ): Promise<void> {
      const at = now()
      const { position, problem, nextAt, status } = end
      await sql`
        insert into monitor_log_reads as reads (monitor_id, position, read_at, next_at, problem, status)
        values (${monitorId}, ${position}::timestamptz, ${problem === null ? at : null}::timestamptz,
          ${nextAt}::timestamptz, ${problem}, ${status ?? null})
        on conflict (monitor_id) do update set
          position = greatest(reads.position, excluded.position),
          read_at = coalesce(excluded.read_at, reads.read_at),
          next_at = excluded.next_at, problem = excluded.problem,
          status = case when ${status === undefined} then reads.status else excluded.status end`.execute(db)
    },

    async prune(before: Date): Promise<void> {
      await db.deleteFrom('monitor_log_entries').where('read_at', '<', before).execute()
    },
  }
}

type Found = 'received' | 'missing' | 'test' | 'no_company'

/** Returns the entries that were never compared, each with its comparison. */
async function foundOf(
  tx: Database,
  { name, monitorId }: Pick<ReadableMonitor, 'name' | 'monitorId'>,
  entries: readonly LoggedDetection[],
): Promise<Map<string, Found>> {
  const ids = entries.map(({ id }) => id)
  const { rows: known } = await sql<{ entry_id: string }>`
    select entry_id from monitor_log_entries
    where monitor_id = ${monitorId} and entry_id = any(${ids}::text[])`.execute(tx)
  const compared = new Set(known.map(({ entry_id: id }) => id))
  const fresh = entries.filter(({ id }) => !compared.has(id))
  const wanted = [...new Set(fresh.flatMap(({ meanings }) => meanings))]
  const { rows } = await sql<{ meaning: string }>`
    select meaning from monitor_seen
    where monitor = ${name} and meaning = any(${wanted}::text[])`.execute(tx)
  const seen = new Set(rows.map(({ meaning }) => meaning))
  return new Map(
    fresh.map(({ id, isTest, meanings }): [string, Found] => {
      if (isTest) return [id, 'test']
      if (meanings.length === 0) return [id, 'no_company']
      return [id, meanings.every((meaning) => seen.has(meaning)) ? 'received' : 'missing']
    }),
  )
}

/** The state of a monitor from which its alerts are decided. */
export interface WatchedMonitor {
  name: string
  differs: boolean | null
  /** When its log was read to the end; null: never. */
  readAt: Date | null
  /** Its status then; null where the service did not show it. */
  status: string | null
  detections: Date[]
}

const mostDetections = 500

export async function watchedMonitors(db: Database, names: readonly string[]): Promise<WatchedMonitor[]> {
  if (names.length === 0) return []
  const { rows } = await sql<Omit<WatchedMonitor, 'detections'> & { detections: string[] | null }>`
    select name, differs, reads.read_at as "readAt", reads.status, (
      select array_agg(detected_at::text) from (
        select detected_at from monitor_log_entries as entry
        where entry.monitor_id = declared.monitor_id and detected_at is not null and found <> 'test'
        order by detected_at desc limit ${mostDetections}
      ) as latest
    ) as detections
    from declared_monitors as declared
    left join monitor_log_reads as reads on reads.monitor_id = declared.monitor_id
    where name in (select jsonb_array_elements_text(${JSON.stringify(names)}::jsonb))
    order by name`.execute(db)
  return rows.map((row) => ({ ...row, detections: (row.detections ?? []).map((at) => new Date(at)) }))
}
