import { randomBytes, randomUUID } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import type { Connector } from '../../connectors/connector.ts'
import { ConfigError, describeError, FatalError } from '../../domain/errors.ts'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import type { ChargeJournal } from '../../domain/ports/charge-journal.ts'
import type { Send } from '../../domain/ports/transport.ts'
import { freshUntil as freshUntilBy } from '../../domain/freshness.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import { createChain, type Chain } from '../../pay/chain.ts'
import type { Payer } from '../../pay/payer.ts'
import { createCallBudget } from '../../queues/call-budget.ts'
import { openRedis, type RedisConnection } from '../../queues/connection.ts'
import type { Pacer } from '../../queues/pacer/pacer.ts'
import { createPacers, type Pacers } from '../../queues/pacers.ts'
import { createQueues, type Queues } from '../../queues/queues.ts'
import { openQueueTelemetry, type QueueTelemetry } from '../../queues/telemetry.ts'
import { createAcquirePermit } from '../../queues/send-permits.ts'
import { answerError } from '../../service/answer-error.ts'
import { prepareQuery, resumeBatch, type PreparedBatch } from '../../service/batch.ts'
import { prepareRequest, prepareUsage } from '../../service/client.ts'
import { createLogoClient } from '../../service/logo.ts'
import { traceTransport } from '../../service/traced-transport.ts'
import { createTransport } from '../../service/transport.ts'
import { createBatchLedger, type BatchLedger } from '../../store/ledger/batches.ts'
import { openDatabase, type OpenDatabase } from '../../store/database/database.ts'
import { createFieldWriteLedger, type FieldWriteLedger } from '../../store/writes/field-writes.ts'
import { createLookupLedger, type LookupLedger } from '../../store/ledger/lookups.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { createRunLedger, type RunLedger } from '../../store/runs/runs.ts'
import { createPaceBook } from '../../store/ledger/pacer-state.ts'
import { createSpendSwitch, type SpendSwitch } from '../../store/ledger/spend-switch.ts'
import { createSuppressionLedger, type SuppressionLedger } from '../../store/subjects/suppressions.ts'
import { createTaskLedger, type TaskLedger } from '../../store/runs/tasks.ts'
import { traceQuery } from '../../store/database/query-spans.ts'
import type { AdvanceOptions } from '../../workers/advance.ts'
import { createAskLater } from '../../workers/lookup/poll-answer.ts'
import { createBatcher, type Batch } from '../../workers/lookup/batcher.ts'
import type { Config } from '../config/config.ts'
import { savePacerState } from './pacer-state.ts'
import { createLog, type Log } from './log.ts'
import type { Payments } from './payments.ts'

/** Everything that the parts are built from, in one visible place. A worker takes the few of them that it names. */
export interface Context {
  config: Config
  log: Log
  now: () => Date
  database: OpenDatabase
  runs: RunLedger
  tasks: TaskLedger
  lookups: LookupLedger
  fieldWrites: FieldWriteLedger
  suppressions: SuppressionLedger
  spendSwitch: SpendSwitch
  /** What every planning of a next step goes by, wherever it is done. */
  planning: Planning
  chain: Chain
  connectors: Map<string, Connector>
  /** Opens Redis and what moves work over it: only processes that work need it. */
  openEngine(): Promise<Engine>
  close(): Promise<void>
}

type Planning = Required<Pick<AdvanceOptions, 'recipes' | 'prices' | 'suppressed' | 'now'>> & {
  lookups: LookupLedger
  tasks: TaskLedger
}

export interface Engine {
  redis: RedisConnection
  /** For further queues; undefined while no traces are sent. */
  queueTelemetry: QueueTelemetry | undefined
  queues: Queues
  /** The pace of ordinary lookups; `pacers` has it and those of slower paths. */
  pacer: Pacer
  pacers: Pacers
  /** The calls that all processes together make to each CRM account. */
  callBudget: CallBudget
  payer: Payer
  /** One pass over the charges that no worker drives; see pay/resolver.ts. */
  resolve: Payments['resolve']
  prepare: (operation: Operation, request: LookupRequest) => ReturnType<typeof prepareRequest>
  prepareBulk: (operation: Operation, body: string) => PreparedBatch
  batches: BatchLedger
  bundle: Batch
  askLater: ReturnType<typeof createAskLater>
  /** What the workspace of the API key has used and left; undefined without one. */
  askAccount: () => Promise<Record<string, unknown> | undefined>
  fetchFree: (operation: Operation, request: LookupRequest) => Promise<Fact>
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
}

/** What tests put in another's place, or around it. */
export interface Overrides {
  now?: () => Date
  log?: Log
  journal?: (journal: ChargeJournal) => ChargeJournal
  send?: (send: Send) => Send
}

/** Connections to the service beyond those of bulk lookups: eight hot ones, and what is asked for later. */
const sparePerProcess = 16

export async function createContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  const now = overrides.now ?? (() => new Date())
  const log = overrides.log ?? createLog(config.logLevel)
  // The last to end: what the others do while they end is traced too.
  const telemetry = config.telemetry
    ? await import('./telemetry.ts').then(({ startTelemetry }) => startTelemetry(config.telemetry!))
    : undefined
  const database = await openDatabase({
    dataDir: config.dataDir,
    onQuery: telemetry && traceQuery,
    ...(config.databaseUrl === undefined ? {} : { url: config.databaseUrl }),
  })
  const { db } = database
  const releases: (() => Promise<void>)[] = [async () => telemetry?.stop(), () => database.close()]
  const runs = createRunLedger(db, { now })
  const tasks = createTaskLedger(db, { now })
  const lookups = createLookupLedger(db, { now })
  const fieldWrites = createFieldWriteLedger(db, { now })
  // Drawn once and never changed: asked for with every page and every press.
  let salt: string | undefined
  const suppressions = createSuppressionLedger(db, {
    now,
    salt: async () => (salt ??= await ledgerId(db, randomBytes)),
  })
  const spendSwitch = createSpendSwitch(db, { now })
  const chain = createChain({ rpcUrl: config.rpcUrl, asset: config.policy.asset })

  const freshUntil: Engine['freshUntil'] = (operation, outcome, at) =>
    freshUntilBy(operation, outcome, at, config.freshness)

  async function openEngine(): Promise<Engine> {
    const serviceUrl = required(
      config.serviceUrl,
      'PAYDIRT_SERVICE_URL',
      'the base address of the data service',
    )
    const account = config.walletKey === undefined ? undefined : privateKeyToAccount(config.walletKey)
    const redis = await openRedis(config.redisUrl)
    releases.push(() => redis.close())
    const queueTelemetry = telemetry && (await openQueueTelemetry())
    const queues = createQueues(redis.redis, {
      prefix: config.redisPrefix,
      telemetry: queueTelemetry,
      onError: (error) =>
        log.debug({ code: (error as { code?: string }).code, message: error.message }, 'queue'),
    })
    releases.push(() => queues.close())
    const plain = createTransport({
      userAgent: config.userAgent,
      networkName: config.networkName,
      // A press finds one free when all bulk lookups are out; so do rounds that ask for what was started.
      connections: config.concurrency + sparePerProcess,
    })
    const transport = telemetry ? traceTransport(plain) : plain
    releases.push(() => transport.close())
    const pacers = createPacers(redis.redis, {
      host: new URL(serviceUrl).host,
      access: config.apiKey ? 'direct' : 'paid',
      prefix: config.redisPrefix,
      ...(config.startPerSecond === undefined ? {} : { initialPerSecond: config.startPerSecond }),
      ...(config.maxPerSecond === undefined ? {} : { maxPerSecond: config.maxPerSecond }),
    })
    const logoClient =
      config.logoUrl === undefined
        ? undefined
        : createLogoClient(transport, {
            logoUrl: config.logoUrl,
            ...(config.logoPlaceholderHeader === undefined
              ? {}
              : { placeholderHeader: config.logoPlaceholderHeader }),
          })
    releases.push(
      await savePacerState(pacers, createPaceBook(db, { now }), (error) =>
        log.debug({ problem: describeError(error) }, 'the learned pace was not kept this time'),
      ),
    )
    const acquirePermit = createAcquirePermit(pacers, now)
    const prepare: Engine['prepare'] = (operation, request) =>
      prepareRequest(serviceUrl, operation, request, config.paths)
    const bulkOptions = { paths: config.paths }
    const prepareBulk: Engine['prepareBulk'] = (operation, body) =>
      resumeBatch(serviceUrl, operation, body, bulkOptions)
    const send = around(overrides.send, transport.send)
    const bundles = createBatchLedger(db, { now })
    // Loaded only by commands that may pay: the protocols' libraries are large.
    const { createPayments } = await import('./payments.ts')
    const { payer, resolve } = createPayments({
      config,
      db,
      chain,
      account,
      ledgerId: await ledgerId(db, randomBytes),
      send,
      wireBody: transport.wireBody,
      acquirePermit: acquirePermit,
      prepare,
      prepareBulk,
      freshUntil,
      now,
      journal: (journal) => around(overrides.journal, journal),
      onUnpaidRequest: (runId) => void runs.countRequests(runId, { unpaid: 1 }).catch(() => {}),
      onWarning: ({ kind, field, to }, endpoint) =>
        log.warn(
          { endpoint, field, ...(to ? { to } : {}) },
          `the service has ${kind} a field of our request`,
        ),
      onError: (error) => log.warn({ problem: describeError(error) }, 'a charge could not be resolved yet'),
    })
    return {
      redis,
      queueTelemetry,
      queues,
      pacer: pacers.lookup,
      pacers,
      callBudget: createCallBudget(redis.redis, config.redisPrefix),
      payer,
      resolve,
      prepare,
      prepareBulk,
      batches: bundles,
      bundle: createBatcher({
        batches: bundles,
        serviceUrl,
        sizes: config.bulk,
        suppressed: suppressions.match,
        newId: randomUUID,
        now,
      }),
      askLater: createAskLater({
        batches: bundles,
        send,
        acquirePermit,
        headers: config.apiKey ? { [config.apiKey.header]: config.apiKey.key } : {},
        queryFor: (operation, queryId) => prepareQuery(serviceUrl, operation, queryId, bulkOptions),
        freshUntil,
        errorFor: answerError,
        now,
      }),
      askAccount: () => askAccount(config, send),
      fetchFree: async (operation, request) => {
        if (operation !== 'company.logo')
          throw new FatalError('no_endpoint', `${operation} is no step of a run`)
        // Without an address for logos there is nothing to ask: the record goes on without one.
        if (!logoClient) return { outcome: 'not_found', data: null }
        return logoClient.lookup(String(request['domain'] ?? ''))
      },
      freshUntil,
    }
  }

  let engine: Promise<Engine> | undefined
  return {
    config,
    log,
    now,
    database,
    runs,
    tasks,
    lookups,
    fieldWrites,
    suppressions,
    spendSwitch,
    planning: {
      lookups,
      tasks,
      recipes: config.recipes,
      prices: config.prices,
      suppressed: suppressions.match,
      now,
    },
    chain,
    connectors: new Map(),
    openEngine: () => (engine ??= openEngine()),
    async close() {
      for (const release of releases.reverse()) await release()
    },
  }
}

async function askAccount(
  { apiKey, serviceUrl, paths }: Config,
  send: Send,
): Promise<Record<string, unknown> | undefined> {
  if (!apiKey || serviceUrl === undefined) return undefined
  const { method, url, body, timeoutMs, decode } = prepareUsage(serviceUrl, paths)
  const headers = { 'content-type': 'application/json', [apiKey.header]: apiKey.key }
  const response = await send({ method, url, body, timeoutMs, headers })
  if (response.status !== 200) throw answerError(response)
  return decode(response.body).data ?? undefined
}

function around<T>(wrap: ((inner: T) => T) | undefined, inner: T): T {
  return wrap ? wrap(inner) : inner
}

function required<T>(value: T | undefined, name: string, meaning: string): T {
  if (value === undefined) throw new ConfigError('missing_setting', `${name} is not set: ${meaning}`)
  return value
}
