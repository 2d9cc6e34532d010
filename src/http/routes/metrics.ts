import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { PacerSnapshot } from '../../queues/pacer/pacer.ts'
import type { QueueDepth } from '../../queues/depths.ts'
import type { LedgerMetrics, Samples } from '../../store/views/metrics.ts'
import type { AccessEntry } from '../server/app.ts'
import type { Authenticator } from '../server/caller.ts'
import { durationHistogram, type CountedDurations } from './duration-histogram.ts'
import { route, type Route } from '../server/route.ts'

/** The sources of the metrics. If one fails, its metrics are left out and the failure is counted. */
export interface MetricSources {
  version: string
  /** Caps in USD: per day, per month, and per day and connector. */
  caps: Samples
  ledger: () => Promise<LedgerMetrics>
  queues: () => Promise<QueueDepth[]>
  pacers: () => Promise<{ path: string; snapshot: PacerSnapshot }[]>
  /** USD; undefined without a wallet. */
  wallet: () => Promise<number | undefined>
  /** 1 while pages are read from the standby, and the seconds that it may be behind; empty without one. */
  standby: () => { used: Samples; behind: Samples }
  onError: (error: unknown) => void
}

export interface Metrics {
  contentType: string
  /** Reads all sources and returns them in the Prometheus text format. */
  text(): Promise<string>
  /** Counts an HTTP request under its route's pattern. */
  recordAnswer(entry: Pick<AccessEntry, 'route' | 'status' | 'ms'>): void
  /** Counts a background request that was refused under load. */
  recordShed(reason: string): void
}

type Fill<T> = { [name: string]: readonly [help: string, labels: readonly string[], (source: T) => Samples] }

const ledgerGauges: Fill<LedgerMetrics> = {
  paydirt_tasks: ['Tasks by status.', ['status'], (it) => it.tasks],
  paydirt_lookups: ['Lookups by state.', ['state'], (it) => it.lookups],
  paydirt_lookups_due: ['Lookups that are due, by lane.', ['lane'], (it) => it.lookupsDue],
  paydirt_lookups_parked: ['Parked lookups, by cause.', ['code'], (it) => it.lookupsParked],
  paydirt_charges: [
    'Charges by state, currency and connector.',
    ['state', 'currency', 'connector'],
    (it) => it.charges,
  ],
  paydirt_runs: ['Runs by connector and state.', ['connector', 'state'], (it) => it.runs],
  paydirt_run_age_seconds: ['Age of the oldest unfinished run.', ['connector', 'state'], (it) => it.runAges],
  paydirt_budget_used_usd: [
    'Budget committed in the current day and month.',
    ['window', 'connector'],
    (it) => it.budgetUsed,
  ],
  paydirt_spending_stopped: [
    '1 while the kill switch is on.',
    [],
    (it) => single(it.spendingStopped ? 1 : 0),
  ],
  paydirt_monitor_deliveries: [
    'Deliveries of monitors, repetitions of the same bytes among them, by outcome and timing.',
    ['monitor', 'outcome', 'timing'],
    (it) => it.monitorDeliveries,
  ],
  paydirt_schedule_occurrences: [
    'Planned times of a schedule in the last day, week and 30 days, by outcome.',
    ['schedule', 'window', 'outcome'],
    (it) => it.scheduleOccurrences,
  ],
  paydirt_reconciliation_age_seconds: [
    'Time since the ledger was last compared with the chain.',
    [],
    (it) => it.reconciliationAge,
  ],
  paydirt_reconciliation_differences: [
    'Payments on which ledger and chain disagreed at the last comparison.',
    [],
    (it) => it.reconciliationDifferences,
  ],
  paydirt_alerts: ['Active alerts.', ['condition', 'severity'], (it) => it.alerts],
}

const ledgerCounters: Fill<LedgerMetrics> = {
  paydirt_spend_usd_total: [
    'Spending according to the ledger; lost means paid without an answer.',
    ['connector', 'outcome'],
    (it) => it.spendUsd,
  ],
  paydirt_spend_credits_total: [
    'Credits spent with direct access.',
    ['connector', 'outcome'],
    (it) => it.spendCredits,
  ],
  paydirt_service_requests_total: ['Requests sent to the data service.', [], (it) => single(it.requests)],
  paydirt_service_requests_limited_total: [
    'Requests that the data service rate-limited (429).',
    [],
    (it) => single(it.requestsLimited),
  ],
  paydirt_records_written_back_total: [
    'Records that a write-back ended, by outcome.',
    ['connector', 'outcome'],
    (it) => it.written,
  ],
  paydirt_http_calls_refused_total: ['Refused calls, by reason.', ['reason'], (it) => it.refusedCalls],
}

const ledgerHistograms: {
  [name: string]: readonly [help: string, (source: LedgerMetrics) => CountedDurations[]]
} = {
  paydirt_lookup_duration_seconds: [
    'Time of one request to the data service, by operation and outcome.',
    (it) => it.exchanges,
  ],
  paydirt_on_demand_duration_seconds: [
    'Time from the request of a person to the end of all its records.',
    (it) => it.onDemand,
  ],
  paydirt_crm_call_duration_seconds: [
    'Time of one call to a CRM: a page of a scan, a batch read or written.',
    (it) => it.crmCalls,
  ],
}

const pacerGauges: Fill<{ path: string; snapshot: PacerSnapshot }[]> = {
  paydirt_pacer_limit_requests_per_second: [
    'Rate at which the pacer permits requests, per second.',
    ['path'],
    (them) => each(them, (it) => it.perSecond),
  ],
  paydirt_pacer_served_requests_per_second: [
    'Requests served per second, over the last ten seconds.',
    ['path'],
    (them) => each(them, (it) => it.servedPerSecond),
  ],
  paydirt_pacer_limited_ratio: [
    'Share of requests that were rate-limited (429), over about ten minutes.',
    ['path'],
    (them) => each(them, (it) => it.limitedShare),
  ],
  paydirt_pacer_at_once_requests: [
    'Requests that the service serves at a time; absent where no such limit is known.',
    ['path'],
    (them) => each(them, (it) => it.atOnce),
  ],
  paydirt_pacer_closed_seconds: [
    'Time until the next request may be sent.',
    ['path'],
    (them) => each(them, (it) => it.closedForMs / 1000),
  ],
}

/** Gauges that the library names like counters. */
const misnamed = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

export function createMetrics(sources: MetricSources): Metrics {
  const own = new Registry()
  collectDefaultMetrics({ register: own })
  for (const name of misnamed) own.removeSingleMetric(name)
  const answers = new Counter({
    name: 'paydirt_http_requests_total',
    help: 'HTTP requests, by route and status.',
    labelNames: ['route', 'status'],
    registers: [own],
  })
  const durations = new Histogram({
    name: 'paydirt_http_request_duration_seconds',
    help: 'Response time of HTTP requests, by route.',
    labelNames: ['route'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30],
    registers: [own],
  })
  const shed = new Counter({
    name: 'paydirt_http_requests_shed_total',
    help: 'Background requests refused under load, by reason.',
    labelNames: ['reason'],
    registers: [own],
  })
  const failures = new Counter({
    name: 'paydirt_metrics_source_failures_total',
    help: 'Failed reads of a source of these metrics.',
    labelNames: ['source'],
    registers: [own],
  })
  const build = new Gauge({
    name: 'paydirt_build_info',
    help: 'The running version.',
    labelNames: ['version'],
    registers: [own],
  })
  build.set({ version: sources.version }, 1)

  async function readSource<T>(source: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read()
    } catch (error) {
      failures.inc({ source })
      sources.onError(error)
      return undefined
    }
  }

  return {
    contentType: own.contentType,
    recordAnswer({ route: pattern, status, ms }) {
      answers.inc({ route: pattern, status: String(status) })
      durations.observe({ route: pattern }, ms / 1000)
    },
    recordShed: (reason) => shed.inc({ reason }),
    async text() {
      const [ledger, queues, pacers, wallet] = await Promise.all([
        readSource('ledger', sources.ledger),
        readSource('queues', sources.queues),
        readSource('pacers', sources.pacers),
        readSource('wallet', sources.wallet),
      ])
      // A new registry per scrape: vanished label values disappear, and concurrent scrapes do not mix.
      const read = new Registry()
      gauge(read, 'paydirt_budget_cap_usd', 'Caps in force.', ['window', 'connector'], sources.caps)
      const { used, behind } = sources.standby()
      gauge(read, 'paydirt_standby_used', '1 while pages are read from the standby.', [], used)
      gauge(read, 'paydirt_standby_behind_seconds', 'The most that the standby is behind.', [], behind)
      if (ledger) {
        fill(read, Gauge, ledgerGauges, ledger)
        fill(read, Counter, ledgerCounters, ledger)
        for (const [name, [help, counted]] of Object.entries(ledgerHistograms))
          durationHistogram(read, name, help, counted(ledger))
      }
      if (pacers) fill(read, Gauge, pacerGauges, pacers)
      if (queues) {
        const samples = queues.map(({ queue, state, jobs }) => ({ labels: { queue, state }, value: jobs }))
        gauge(read, 'paydirt_queue_jobs', 'Jobs in Redis.', ['queue', 'state'], samples)
      }
      if (wallet !== undefined)
        gauge(read, 'paydirt_wallet_balance_usd', 'Balance of the wallet.', [], single(wallet))
      return Registry.merge([own, read]).metrics()
    },
  }
}

function fill<T>(registry: Registry, Kind: typeof Gauge | typeof Counter, metrics: Fill<T>, source: T): void {
  for (const [name, [help, labelNames, samples]] of Object.entries(metrics)) {
    const metric = new Kind({ name, help, labelNames: [...labelNames], registers: [registry] })
    for (const { labels, value } of samples(source)) metric.inc(labels, value)
  }
}

function gauge(
  registry: Registry,
  name: string,
  help: string,
  labels: readonly string[],
  samples: Samples,
): void {
  fill(registry, Gauge, { [name]: [help, labels, () => samples] }, undefined)
}

function single(value: number): Samples {
  return [{ labels: {}, value }]
}

function each(
  pacers: { path: string; snapshot: PacerSnapshot }[],
  valueOf: (snapshot: PacerSnapshot) => number | undefined,
): Samples {
  return pacers.flatMap(({ path, snapshot }) => {
    const value = valueOf(snapshot)
    return value === undefined ? [] : [{ labels: { path }, value }]
  })
}

export function metricsRoutes(metrics: Metrics, authenticator: Authenticator): Route[] {
  return [
    route({
      method: 'get',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Metrics in the Prometheus text format',
      authenticator,
      answers: { 200: { description: 'Version 0.0.4 of the text format', contentType: 'text/plain' } },
      handle: async () =>
        new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } }),
    }),
  ]
}
