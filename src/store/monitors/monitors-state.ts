import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { deliveryCounts, type DeliveryCount } from '../messages/monitor-deliveries.ts'

/** One monitor of the settings as the ledger knows it. */
interface MonitorState {
  name: string
  monitorId: string
  since: Date
  /** The last comparison with the settings, and whether it found a difference. */
  comparedAt: Date | null
  differs: boolean | null
  /** Its status at the service when its log was read last; null where it was not shown. */
  status: string | null
  deliveries: Omit<DeliveryCount, 'monitor'>[]
  lastDeliveryAt: Date | null
  log: {
    readAt: Date | null
    nextAt: Date | null
    problem: string | null
    /** The entries that were compared, and how many of them were not worked here then. */
    entries: number
    missing: number
    lastDetectionAt: Date | null
  }
  /** Spent on matches of the monitor, in atomic USD and in credits. */
  cost: { usdAtomic: bigint; credits: bigint }
}

export interface MonitorsState {
  monitors: MonitorState[]
  /** Deliveries of monitors that the settings do not name, and of those that name none. */
  others: DeliveryCount[]
  /** Names of headers of deliveries that nothing here reads. */
  headers: { name: string; lastSeenAt: Date }[]
}

interface Row {
  name: string
  monitorId: string
  since: Date
  comparedAt: Date | null
  differs: boolean | null
  status: string | null
  lastDeliveryAt: Date | null
  readAt: Date | null
  nextAt: Date | null
  problem: string | null
  entries: number
  missing: number
  lastDetectionAt: Date | null
  usd: string
  credits: string
}

/** Returns the monitors of the settings with their deliveries, their logs and their cost, by name. */
export async function monitorsState(db: Database): Promise<MonitorsState> {
  const counts = await deliveryCounts(db)
  const { rows } = await sql<Row>`
    select declared.name, declared.monitor_id as "monitorId", since, compared_at as "comparedAt", differs,
      reads.status, reads.read_at as "readAt", reads.next_at as "nextAt", reads.problem,
      (select max(received_at) from monitor_deliveries
        where monitor = declared.name and source = 'hook') as "lastDeliveryAt",
      (select count(*)::int from monitor_log_entries as entry
        where entry.monitor_id = declared.monitor_id) as entries,
      (select count(*)::int from monitor_log_entries as entry
        where entry.monitor_id = declared.monitor_id and found = 'missing') as missing,
      (select max(detected_at) from monitor_log_entries as entry
        where entry.monitor_id = declared.monitor_id) as "lastDetectionAt",
      coalesce(spent.usd, 0)::text as usd, coalesce(spent.credits, 0)::text as credits
    from declared_monitors as declared
    left join monitor_log_reads as reads on reads.monitor_id = declared.monitor_id
    left join lateral (
      select sum(amount_atomic) filter (where currency = 'USD') as usd,
        sum(amount_atomic) filter (where currency = 'credit') as credits
      from charges join runs on runs.id = charges.run_id
      where charges.state in ('settled', 'lost')
        and runs.source ->> 'list' in ('monitors.' || declared.name || '.companies', 'monitors.' || declared.name || '.people')
    ) as spent on true
    order by declared.name`.execute(db)
  const names = new Set(rows.map(({ name }) => name))
  const headers = await db
    .selectFrom('monitor_headers')
    .select(['name', 'last_seen_at as lastSeenAt'])
    .orderBy('name')
    .execute()
  return {
    monitors: rows.map(
      ({
        readAt,
        nextAt,
        problem,
        entries,
        missing,
        lastDetectionAt,
        lastDeliveryAt,
        usd,
        credits,
        ...monitor
      }) => ({
        ...monitor,
        lastDeliveryAt,
        deliveries: counts.flatMap(({ monitor: name, ...count }) => (name === monitor.name ? [count] : [])),
        log: { readAt, nextAt, problem, entries, missing, lastDetectionAt },
        cost: { usdAtomic: BigInt(usd), credits: BigInt(credits) },
      }),
    ),
    others: counts.filter(({ monitor }) => !names.has(monitor)),
    headers,
  }
}
