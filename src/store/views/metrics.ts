import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { lastReconciliation } from '../chain/reconciliations.ts'
import { measuredTotals } from '../measurements/measurements.ts'
import { leastStatus } from '../runs/ready-tasks.ts'

/** A number for each combination of labels. */
export type Samples = { labels: Record<string, string>; value: number }[]

/** The current figures of the ledger. Money in USD, times in seconds. */
export interface LedgerMetrics {
  tasks: Samples
  lookups: Samples
  lookupsDue: Samples
  lookupsParked: Samples
  charges: Samples
  spendUsd: Samples
  spendCredits: Samples
  requests: number
  requestsLimited: number
  runs: Samples
  runAges: Samples
  budgetUsed: Samples
  spendingStopped: boolean
  refusedCalls: Samples
  alerts: Samples
  monitorDeliveries: Samples
  /** Planned times of schedules in the last day, week and 30 days. */
  scheduleOccurrences: Samples
  /** Since the last reconciliation; none before the first. */
  reconciliationAge: Samples
  reconciliationDifferences: Samples
  /** Records that write-backs ended, since the first start of all. */
  written: Samples
  /** Exchanges with the data service, by operation and outcome, since the first start of all. */
  exchanges: Durations
  /** On-demand requests of persons, by connector and outcome. */
  onDemand: Durations
  /** Calls to CRMs, by connector and call. */
  crmCalls: Durations
}

/** Counts by duration (domain/measuring/durations.ts). `sum` is in seconds. */
type Durations = { labels: Record<string, string>; sum: number; buckets: number[] }[]

type Row = Record<string, unknown> & { value: number }

/** Rarer codes are summed as `other`, because the number of different codes is unbounded. */
const maxCodes = 25

/**
 * Reads the metrics from the ledger, so that all processes report the same figures and a restart loses none. No label has a
 * value that grows with the number of records.
 */
export async function ledgerMetrics(db: Database, now: Date): Promise<LedgerMetrics> {
  const read = async (query: ReturnType<typeof sql<Row>>): Promise<Samples> => {
    const { rows } = await query.execute(db)
    return rows.map(({ value, ...labels }) => ({ labels: labels as Record<string, string>, value }))
  }
  const day = now.toISOString().slice(0, 10)
  const totals = await sql<{ requests: number; limited: number; stopped: boolean }>`
    select (select coalesce(sum(sends), 0) from charges)::float8
        + (select coalesce(sum(requests_unpaid), 0) from runs)::float8 as requests,
      (select coalesce(sum(requests_limited), 0) from runs)::float8 as limited,
      exists (select 1 from switches where name = 'spending_stopped' and is_on) as stopped`.execute(db)
  const { requests = 0, limited = 0, stopped = false } = totals.rows[0] ?? {}
  const reconciled = await lastReconciliation(db)
  return {
    tasks: await read(sql`select status, count(*)::float8 as value from tasks group by status`),
    lookups: await read(sql`select state, count(*)::float8 as value from lookups group by state`),
    lookupsDue: await read(sql`
      select case when hot then 'hot' else 'bulk' end as lane, count(*)::float8 as value from lookups
      where state in ('waiting', 'parked') and due_at <= ${now} group by 1`),
    lookupsParked: await read(sql`
      with codes as (
        select coalesce(code, 'unknown') as code, count(*)::float8 as value,
          row_number() over (order by count(*) desc, 1) as place
        from lookups where state = 'parked' group by 1
      )
      select case when place <= ${maxCodes} then code else 'other' end as code, sum(value)::float8 as value
      from codes group by 1`),
    charges: await read(sql`
      select state, currency, connector, count(*)::float8 as value from charges group by 1, 2, 3`),
    spendUsd: withZero(
      'lost',
      await read(sql`
        select connector, state as outcome, sum(amount_atomic)::float8 / 1000000 as value from charges
        where currency = 'USD' and state in ('settled', 'lost') group by 1, 2`),
    ),
    spendCredits: await read(sql`
      select connector, state as outcome, sum(amount_atomic)::float8 / 1000000 as value from charges
      where currency = 'credit' and state in ('settled', 'lost') group by 1, 2`),
    requests,
    requestsLimited: limited,
    runs: await read(sql`
      select connector, state, count(*)::float8 as value from runs where state <> 'planned' group by 1, 2`),
    runAges: await read(sql`
      select connector, state, extract(epoch from ${now}::timestamptz - min(started_at))::float8 as value from runs
      where state in ('scanning', 'working', 'parked', 'stopped') group by 1, 2`),
    budgetUsed: await read(sql`
      select case when scope like 'connector:%' then 'connector_day' else split_part(scope, ':', 1) end as "window",
        case when scope like 'connector:%' then split_part(scope, ':', 2) else '' end as connector,
        committed_atomic::float8 / 1000000 as value
      from budgets
      where scope in (${`day:${day}`}, ${`month:${day.slice(0, 7)}`}) or scope like ${`connector:%:${day}`}`),
    spendingStopped: stopped,
    refusedCalls: await read(sql`select reason, sum(count)::float8 as value from call_refusals group by 1`),
    alerts: await read(sql`
      select condition, severity, count(*)::float8 as value from alerts where ended_at is null group by 1, 2`),
    // The monitors of the settings by name; all others as one, because their number is unbounded.
    monitorDeliveries: await read(sql`
      select case when monitor in (select name from declared_monitors) then monitor else 'other' end as monitor,
        outcome, timing, sum(deliveries)::float8 as value
      from (
        select coalesce(monitor, '') as monitor, coalesce(outcome, 'waiting') as outcome,
          coalesce(timing, 'on_time') as timing, count(*) + sum(repeats) as deliveries
        from monitor_deliveries group by 1, 2, 3
        union all
        select monitor, outcome, timing, deliveries + repeats from monitor_delivery_totals
      ) as counted group by 1, 2, 3`),
    // Only what the schedule itself brought about: a run that a person asked for has no planned time.
    scheduleOccurrences: await read(sql`
      select schedule, "window",
        case when state in ('missed', 'failed') then state else 'begun' end as outcome, count(*)::float8 as value
      from schedule_turns
      join (values ('1d', 1), ('7d', 7), ('30d', 30)) as windows ("window", days)
        on planned_at > ${now}::timestamptz - make_interval(days => days)
      where schedule is not null and cause in ('cron', 'catch_up') and state <> 'due'
      group by 1, 2, 3`),
    reconciliationAge: reconciled
      ? [{ labels: {}, value: (now.getTime() - reconciled.at.getTime()) / 1_000 }]
      : [],
    reconciliationDifferences: reconciled ? [{ labels: {}, value: reconciled.differences }] : [],
    written: withZero(
      'rejected',
      (await measuredTotals(db, 'written')).map(({ name, part, count }) => ({
        labels: { connector: name, outcome: part },
        value: count,
      })),
    ),
    onDemand: (await measuredTotals(db, 'on_demand')).map(({ name, part, sum, buckets }) => ({
      labels: { connector: name, outcome: part },
      sum,
      buckets,
    })),
    exchanges: (await measuredTotals(db, 'exchange')).map(({ name, part, sum, buckets }) => ({
      labels: { operation: name, outcome: part },
      sum,
      buckets,
    })),
    crmCalls: (await measuredTotals(db, 'crm_call')).map(({ name, part, sum, buckets }) => ({
      labels: { connector: name, call: part },
      sum,
      buckets,
    })),
  }
}

/**
 * Adds a zero for an outcome that a connector has not had yet. Prometheus does not see the first increase of a series that
 * begins above zero, and here the first is worth an alert.
 */
function withZero(outcome: string, samples: Samples): Samples {
  const connectors = new Set(samples.map(({ labels }) => labels['connector'] ?? ''))
  for (const { labels } of samples)
    if (labels['outcome'] === outcome) connectors.delete(labels['connector'] ?? '')
  return [...samples, ...[...connectors].map((connector) => ({ labels: { connector, outcome }, value: 0 }))]
}

/** Returns since when the oldest press has waited; undefined when none waits. Parked work waits for a person or a cap. */
export async function oldestPress(db: Database): Promise<Date | undefined> {
  const { rows } = await sql<{ since: Date | null }>`
    select min(runs.started_at) as since from runs
    where trigger = 'button' and finished_at is null
      and ${leastStatus(sql`runs.id`, ['looking_up', 'queued', 'ready'])} is not null`.execute(db)
  return rows[0]?.since ?? undefined
}
