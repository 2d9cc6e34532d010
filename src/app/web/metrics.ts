import { privateKeyToAccount } from 'viem/accounts'
import { describeError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import type { DeskAccess } from '../../http/desk/access/access.ts'
import { metricsAuthenticator } from '../../http/callers/metrics-token.ts'
import { createMetrics, metricsRoutes, type Metrics } from '../../http/routes/metrics.ts'
import type { Route } from '../../http/server/route.ts'
import { createQueueDepths } from '../../queues/depths.ts'
import { ledgerMetrics, type Samples } from '../../store/views/metrics.ts'
import type { Config } from '../config/config.ts'
import type { Context } from '../context/context.ts'
import { version } from '../config/version.ts'
import { moduleLog } from '../context/log.ts'
import type { Reads } from './reads.ts'

/** The sources are read at most this often, also with several scrapers. */
const ledgerEveryMs = 5_000
const walletEveryMs = 60_000

/** Opens `/metrics` with its sources, for the web role. */
export async function openMetrics(
  context: Context,
  access: DeskAccess,
  reads: Reads,
): Promise<{
  routes: Route[]
  recordAnswer: Metrics['recordAnswer']
  recordShed: Metrics['recordShed']
  close(): Promise<void>
}> {
  const { config, database, chain, log, now } = context
  const engine = await context.openEngine()
  const onError = (error: unknown) =>
    moduleLog(log, 'web').warn({ problem: describeError(error) }, 'metrics met an error')
  const depths = createQueueDepths(engine.redis.redis, { prefix: config.redisPrefix, onError })
  const wallet = config.walletKey === undefined ? undefined : privateKeyToAccount(config.walletKey).address
  const nowMs = () => performance.now()
  // A counter that falls counts as a restart: no reading may be older than the one before it.
  const mayLag = reads.mostBehindMs < ledgerEveryMs
  const readLedger = async () =>
    mayLag ? (await reads.read((db) => ledgerMetrics(db, now()))).result : ledgerMetrics(database.db, now())
  const metrics = createMetrics({
    version,
    caps: capSamples(config),
    ledger: cached(ledgerEveryMs, readLedger, nowMs),
    standby: () => standbySamples(reads),
    queues: () => depths.read(),
    pacers: () =>
      Promise.all(
        engine.pacers.all().map(async ([path, pacer]) => ({ path, snapshot: await pacer.snapshot() })),
      ),
    wallet: cached(
      walletEveryMs,
      async () => (wallet === undefined ? undefined : usd(await chain.balanceOf(wallet))),
      nowMs,
    ),
    onError,
  })
  return {
    routes: metricsRoutes(metrics, metricsAuthenticator({ token: config.metricsToken, access })),
    recordAnswer: metrics.recordAnswer,
    recordShed: metrics.recordShed,
    close: () => depths.close(),
  }
}

/** Nothing without a standby; no delay while it is not known. */
function standbySamples(reads: Reads): { used: Samples; behind: Samples } {
  const state = reads.state()
  if (!state) return { used: [], behind: [] }
  const behindMs = 'behindMs' in state ? state.behindMs : undefined
  return {
    used: [{ labels: {}, value: state.name === 'near' ? 1 : 0 }],
    behind: behindMs === undefined ? [] : [{ labels: {}, value: behindMs / 1_000 }],
  }
}

function capSamples({ caps }: Config): Samples {
  const sample = (window: string, atomic: Atomic | undefined, connector = ''): Samples =>
    atomic === undefined ? [] : [{ labels: { window, connector }, value: usd(atomic) }]
  return [
    ...sample('day', caps.dayAtomic),
    ...sample('month', caps.monthAtomic),
    ...Object.entries(caps.connectorDayAtomic ?? {}).flatMap(([connector, cap]) =>
      sample('connector_day', cap, connector),
    ),
  ]
}

/** Reads a source at most once in `forMs`. A read that failed is repeated at once. */
function cached<T>(forMs: number, ask: () => Promise<T>, nowMs: () => number): () => Promise<T> {
  let last: { atMs: number; answer: Promise<T> } | undefined
  return () => {
    if (last && nowMs() - last.atMs < forMs) return last.answer
    const current = { atMs: nowMs(), answer: ask() }
    current.answer.catch(() => {
      if (last === current) last = undefined
    })
    last = current
    return current.answer
  }
}

function usd(atomic: Atomic): number {
  return Number(atomic) / 1_000_000
}
