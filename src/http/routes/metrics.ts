import { timingSafeEqual } from 'node:crypto'
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { PacerSnapshot } from '../../queues/pacer/pacer.ts'
import type { QueueDepth } from '../../queues/depths.ts'
import type { LedgerMetrics, Samples } from '../../store/views/metrics.ts'
import type { AccessEntry } from '../server/app.ts'
import { type Authenticator, refuse } from '../server/caller.ts'
import { arrivalOf, type DeskAccess } from '../desk/access/access.ts'
import { route, type Route } from '../server/route.ts'

/** Where the numbers come from. One that fails leaves its metrics out and is counted. */
export interface MetricSources {
  version: string
  /** Caps in USD: a day's, a month's, a connector's day's. */
  caps: Samples
  ledger: () => Promise<LedgerMetrics>
  queues: () => Promise<QueueDepth[]>
  pacers: () => Promise<{ path: string; snapshot: PacerSnapshot }[]>
  /** USD; undefined without a wallet. */
  wallet: () => Promise<number | undefined>
  onError: (error: unknown) => void
}

export interface Metrics {
  contentType: string
  /** Reads all sources anew and writes them in Prometheus' text form. */
  text(): Promise<string>
  /** Counts an answered HTTP request under its route's pattern. */
  recordAnswer(entry: Pick<AccessEntry, 'route' | 'status' | 'ms'>): void
}

type Fill<T> = { [name: string]: readonly [help: string, labels: readonly string[], (source: T) => Samples] }

const ledgerGauges: Fill<LedgerMetrics> = {
  paydirt_tasks: ['Tasks by status.', ['status'], (it) => it.tasks],
  paydirt_lookups: ['Lookups by state.', ['state'], (it) => it.lookups],
  paydirt_lookups_due: ['Lookups whose time has come, by lane.', ['lane'], (it) => it.lookupsDue],
  paydirt_lookups_parked: ['Lookups that stand still, by cause.', ['code'], (it) => it.lookupsParked],
  paydirt_charges: [
    'Charges by state, currency and connector.',
    ['state', 'currency', 'connector'],
    (it) => it.charges,
  ],
  paydirt_runs: ['Runs by connector and state.', ['connector', 'state'], (it) => it.runs],
  paydirt_run_age_seconds: [
    'Age of the oldest run that is not finished.',
    ['connector', 'state'],
    (it) => it.runAges,
  ],
  paydirt_budget_used_usd: [
    'Committed under the caps of this day and month.',
    ['window', 'connector'],
    (it) => it.budgetUsed,
  ],
  paydirt_spending_stopped: [
    '1 while the kill switch is on.',
    [],
    (it) => single(it.spendingStopped ? 1 : 0),
  ],
  paydirt_alerts: ['Alerts that stand.', ['condition', 'severity'], (it) => it.alerts],
}

const ledgerCounters: Fill<LedgerMetrics> = {
  paydirt_spend_usd_total: [
    'Paid so far, as the ledger has it; lost: paid, and no data came.',
    ['connector', 'outcome'],
    (it) => it.spendUsd,
  ],
  paydirt_spend_credits_total: [
    'Credits paid so far on direct access.',
    ['connector', 'outcome'],
    (it) => it.spendCredits,
  ],
  paydirt_service_requests_total: ['Requests sent to the data service.', [], (it) => single(it.requests)],
  paydirt_service_requests_limited_total: [
    'Requests that the data service refused for their rate (429).',
    [],
    (it) => single(it.requestsLimited),
  ],
  paydirt_http_calls_refused_total: [
    'Calls that were not let in, by reason.',
    ['reason'],
    (it) => it.refusedCalls,
  ],
}

const pacerGauges: Fill<{ path: string; snapshot: PacerSnapshot }[]> = {
  paydirt_pacer_limit_requests_per_second: [
    'Requests a second at which leave to send is given.',
    ['path'],
    (them) => each(them, (it) => it.perSecond),
  ],
  paydirt_pacer_served_requests_per_second: [
    'Requests a second that were served in the last ten seconds.',
    ['path'],
    (them) => each(them, (it) => it.servedPerSecond),
  ],
  paydirt_pacer_limited_ratio: [
    'Share of 429 in the last ten minutes or so.',
    ['path'],
    (them) => each(them, (it) => it.limitedShare),
  ],
  paydirt_pacer_closed_seconds: [
    'Time until the next request may go out.',
    ['path'],
    (them) => each(them, (it) => it.closedForMs / 1000),
  ],
}

/** The library names three gauges as if they were counters. */
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
    help: 'HTTP requests answered, by route and status.',
    labelNames: ['route', 'status'],
    registers: [own],
  })
  const durations = new Histogram({
    name: 'paydirt_http_request_duration_seconds',
    help: 'Time until an HTTP request was answered, by route.',
    labelNames: ['route'],
    buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 30],
    registers: [own],
  })
  const failures = new Counter({
    name: 'paydirt_metrics_source_failures_total',
    help: 'Times that a source of these metrics did not answer.',
    labelNames: ['source'],
    registers: [own],
  })
  const build = new Gauge({
    name: 'paydirt_build_info',
    help: 'The version that runs.',
    labelNames: ['version'],
    registers: [own],
  })
  build.set({ version: sources.version }, 1)

  async function ask<T>(source: string, question: () => Promise<T>): Promise<T | undefined> {
    try {
      return await question()
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
    async text() {
      const [ledger, queues, pacers, wallet] = await Promise.all([
        ask('ledger', sources.ledger),
        ask('queues', sources.queues),
        ask('pacers', sources.pacers),
        ask('wallet', sources.wallet),
      ])
      // A registry a scrape: what is gone since the last one, is gone, and two scrapes at once do not mix.
      const read = new Registry()
      gauge(read, 'paydirt_budget_cap_usd', 'Caps in force.', ['window', 'connector'], sources.caps)
      if (ledger) {
        fill(read, Gauge, ledgerGauges, ledger)
        fill(read, Counter, ledgerCounters, ledger)
      }
      if (pacers) fill(read, Gauge, pacerGauges, pacers)
      if (queues) {
        const samples = queues.map(({ queue, state, jobs }) => ({ labels: { queue, state }, value: jobs }))
        gauge(read, 'paydirt_queue_jobs', 'Jobs that stand in Redis.', ['queue', 'state'], samples)
      }
      if (wallet !== undefined)
        gauge(read, 'paydirt_wallet_balance_usd', 'What the wallet holds.', [], single(wallet))
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
  value: (snapshot: PacerSnapshot) => number,
): Samples {
  return pacers.map(({ path, snapshot }) => ({ labels: { path }, value: value(snapshot) }))
}

export function metricsRoutes(metrics: Metrics, door: Authenticator): Route[] {
  return [
    route({
      method: 'get',
      path: '/metrics',
      operationId: 'getMetrics',
      summary: 'Metrics in the text form of Prometheus',
      authenticator: door,
      answers: { 200: { description: 'Version 0.0.4 of the text form', contentType: 'text/plain' } },
      handle: async () =>
        new Response(await metrics.text(), { headers: { 'content-type': metrics.contentType } }),
    }),
  ]
}

/** With a token set, whoever brings it; without one only whom the desk would take for somebody at this machine. */
export function metricsAuthenticator({
  token,
  access,
}: {
  token: string | undefined
  access: DeskAccess
}): Authenticator {
  return {
    security: token === undefined && access.mode === 'open' ? [] : ['metricsToken'],
    async authenticate({ headers }) {
      if (token === undefined) {
        if (arrivalOf(access, headers, headers.get('host') ?? '') === 'local')
          return { kind: 'public', name: 'public' }
        throw refuse(
          'metrics_off',
          'set PAYDIRT_METRICS_TOKEN to read metrics from elsewhere than this machine, or where somebody signs in',
          403,
        )
      }
      const [, given = ''] = /^Bearer +(\S+)$/i.exec(headers.get('authorization') ?? '') ?? []
      const [a, b] = [Buffer.from(given), Buffer.from(token)]
      if (a.length !== b.length || !timingSafeEqual(a, b))
        throw refuse('metrics_token', 'send `Authorization: Bearer` with the metrics token')
      return { kind: 'public', name: 'metrics' }
    },
  }
}
