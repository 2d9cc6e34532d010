import { randomUUID } from 'node:crypto'
import { describeError, describeUnexpected } from '../../domain/errors.ts'
import { crmNames } from '../../connectors/definitions.ts'
import type { CallBudget } from '../../domain/ports/call-budget.ts'
import type { ChargeJournal } from '../../domain/ports/charge-journal.ts'
import type { Meter } from '../../domain/ports/meter.ts'
import type { RecordIndex } from '../../domain/ports/record-index.ts'
import type { AcquirePermit } from '../../domain/ports/send-permit.ts'
import type { Send } from '../../domain/ports/transport.ts'
import type { Fact } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import type { Chain } from '../../pay/chain/chain.ts'
import type { Payer } from '../../pay/payer.ts'
import { largestBlock } from '../../queues/blocks/block-size.ts'
import { createCallBudget } from '../../queues/call-budget.ts'
import { openRedis, type RedisConnection } from '../../queues/connection.ts'
import type { Pacer } from '../../queues/pacer/pacer.ts'
import { createPacers, type Pacers } from '../../queues/pacers.ts'
import { createQueues, type Queues } from '../../queues/queues.ts'
import { createAcquirePermit } from '../../queues/send-permits.ts'
import { openQueueTelemetry, type QueueTelemetry } from '../../queues/telemetry.ts'
import { answerError } from '../../service/answer-error.ts'
import type { OpenDatabase } from '../../store/database/database.ts'
import { renamesOf } from '../../store/contract/accepted-renames.ts'
import { waitOutside } from '../../store/database/go-first.ts'
import { ledgerId } from '../../store/database/meta.ts'
import { createBatchLedger, type BatchLedger } from '../../store/ledger/batches.ts'
import { indexKnownTasks } from '../../store/identities/fill-from-tasks.ts'
import { learnFromKeptAnswers } from '../../store/names/learn-kept-answers.ts'
import type { SettledHere } from '../../store/ledger/lookups.ts'
import { createPacerStateStore } from '../../store/ledger/pacer-state.ts'
import type { RunLedger } from '../../store/runs/runs.ts'
import type { SuppressionLedger } from '../../store/subjects/suppressions.ts'
import { createBatcher, type Batch } from '../../workers/lookup/batcher.ts'
import type { Probation } from '../../workers/lookup/probation.ts'
import { createPollAnswer } from '../../workers/lookup/poll-answer.ts'
import type { Config } from '../config/config.ts'
import { createScreen } from '../../service/calls/screen-page.ts'
import { withRenames } from '../../service/catalogue/with-renames.ts'
import { moduleLog, type Log } from './log.ts'
import { createMeter, measured, type OpenMeter } from './meter.ts'
import { savePacerState } from './pacer-state.ts'
import { createObserver, type Observer } from './observer.ts'
import type { Payments, PaymentsOptions } from './payments.ts'
import { openProbation } from './probation.ts'
import { openService, type Service } from './service.ts'

/** Redis and everything that moves work over it or pays for it. */
export interface Engine extends Pick<Service, 'prepare' | 'prepareBulk' | 'askAccount' | 'fetchFree'> {
  redis: RedisConnection
  /** For further queues; undefined while no traces are sent. */
  queueTelemetry: QueueTelemetry | undefined
  queues: Queues
  /** The pace of ordinary lookups; `pacers` has it and those of slower paths. */
  pacer: Pacer
  pacers: Pacers
  /** Counts the calls that all processes together make to each CRM account. */
  callBudget: CallBudget
  meter: OpenMeter
  /** Learns from every call to a CRM. */
  recordIndex: RecordIndex
  payer: Payer
  /** One pass over the charges that no worker drives; see pay/resolver.ts. */
  resolve: Payments['resolve']
  batches: BatchLedger
  batch: Batch
  pollAnswer: ReturnType<typeof createPollAnswer>
  probation: Probation
  /** Stores what answers have shown every few seconds; `flush` does it at once. */
  observer: Pick<Observer, 'flush'>
  freshUntil: FreshUntil
}

/** Returns until when an answer is not bought again. */
type FreshUntil = (operation: Operation, outcome: Fact['outcome'], now: Date) => Date

export interface EngineOptions {
  config: Config
  log: Log
  now: () => Date
  randomBytes: (size: number) => Buffer
  database: OpenDatabase
  chain: Chain
  runs: Pick<RunLedger, 'countRequests'>
  suppressions: Pick<SuppressionLedger, 'match'>
  recordIndex: RecordIndex
  freshUntil: FreshUntil
  settled: SettledHere
  isTraced: boolean
  wrapSend: ((send: Send) => Send) | undefined
  wrapJournal: ((journal: ChargeJournal) => ChargeJournal) | undefined
  wrapAcquirePermit: ((acquire: AcquirePermit) => AcquirePermit) | undefined
  /** Called with the release of each part as soon as it is open, so that a failed start releases what it opened. */
  onOpened: (release: () => Promise<void>) => void
}

/** Throws ConfigError when the service's address, or everything to pay with, is missing. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const { config, log, now, onOpened, freshUntil, suppressions } = options
  const { db } = options.database
  const catalogue = withRenames(config.catalogue, await renamesOf(db))
  const service = openService(config, { ...options, catalogue })
  onOpened(service.close)
  const { redis, queueTelemetry, queues } = await openQueues(options)
  const pacers = createPacers(redis.redis, {
    host: new URL(service.url).host,
    access: config.apiKey ? 'direct' : 'paid',
    prefix: config.redisPrefix,
    ...(config.startPerSecond === undefined ? {} : { initialPerSecond: config.startPerSecond }),
    ...(config.maxPerSecond === undefined ? {} : { maxPerSecond: config.maxPerSecond }),
  })
  onOpened(
    await savePacerState(pacers, createPacerStateStore(db, { now }), (error) =>
      moduleLog(log, 'queues').debug(
        { problem: describeError(error) },
        'the learned pace could not be saved this time',
      ),
    ),
  )
  const meter = createMeter(db, {
    now,
    paceOf: async (path) => {
      const pacer = pacers.all().find(([each]) => each === path)?.[1]
      return (await (pacer ?? pacers.lookup).snapshot()).perSecond
    },
    onError: (error) =>
      moduleLog(log, 'store').debug(
        { problem: describeError(error) },
        'measurements could not be saved this time',
      ),
  })
  onOpened(() => meter.close())
  const paced = createAcquirePermit(pacers, now, meter.request)
  const acquirePermit = options.wrapAcquirePermit?.(paced) ?? paced
  // Before anything is bought: what older versions have bought is known by all of its names.
  await learnFromKeptAnswers(db, { hosts: config.networkHosts, now })
  await indexKnownTasks(db, { connectors: crmNames, hosts: config.networkHosts, now })
  const batches = createBatchLedger(db, { now, hosts: config.networkHosts })
  const probation = await openProbation({ config: { catalogue }, log, db, serviceUrl: service.url, now })
  const observer = createObserver({
    db,
    catalogue,
    now,
    onError: (error) =>
      moduleLog(log, 'store').debug(
        { problem: describeError(error) },
        'observations could not be saved this time',
      ),
  })
  onOpened(() => observer.close())
  const screen = createScreen({ catalogue, suppressed: suppressions.match })
  const { payer, resolve } = await openPayments(options, service, acquirePermit, { meter, observer, screen })
  return {
    redis,
    queueTelemetry,
    queues,
    pacer: pacers.lookup,
    pacers,
    callBudget: createCallBudget(redis.redis, config.redisPrefix),
    meter,
    recordIndex: options.recordIndex,
    payer,
    resolve,
    prepare: service.prepare,
    prepareBulk: service.prepareBulk,
    askAccount: service.askAccount,
    fetchFree: measured(service.fetchFree, meter),
    freshUntil,
    probation,
    observer,
    batches,
    batch: createBatcher({
      batches,
      serviceUrl: service.url,
      sizes: config.bulk,
      suppressed: suppressions.match,
      hasNoBatches: probation.hasNoBatches,
      newId: randomUUID,
      now,
    }),
    pollAnswer: createPollAnswer({
      batches,
      send: service.send,
      acquirePermit,
      headers: service.headers,
      queryFor: service.prepareQuery,
      freshUntil,
      errorFor: answerError,
      onAnswer: observer.batch,
      now,
    }),
  }
}

async function openQueues({ config, log, isTraced, onOpened }: EngineOptions) {
  const redis = await openRedis(config.redisUrl, config.redisAccess)
  onOpened(() => redis.close())
  const queueTelemetry = isTraced ? await openQueueTelemetry() : undefined
  const queues = createQueues(redis.redis, {
    prefix: config.redisPrefix,
    telemetry: queueTelemetry,
    largestBlock: largestBlock(config.concurrency),
    onError: (error) =>
      moduleLog(log, 'queues').debug(
        { code: (error as { code?: string }).code, message: error.message },
        'queue',
      ),
    onFailed: (error) =>
      moduleLog(log, 'queues').warn(
        { problem: describeUnexpected(error) },
        'a worker met an error and will try the work again',
      ),
  })
  onOpened(() => queues.close())
  return { redis, queueTelemetry, queues }
}

async function openPayments(
  options: EngineOptions,
  service: Service,
  acquirePermit: AcquirePermit,
  { meter, observer, screen }: { meter: Meter; observer: Observer; screen: PaymentsOptions['screen'] },
): Promise<Payments> {
  const { config, log, now, chain, runs, freshUntil } = options
  const { db } = options.database
  // Loaded only by commands that may pay: the protocols' libraries are large.
  const { createPayments } = await import('./payments.ts')
  const { signingAccount } = await import('../../pay/signing/account.ts')
  const account = config.walletKey === undefined ? undefined : signingAccount(config.walletKey)
  const { noticeRestore, wasUsedBefore } = await import('../restored/notice-restore.ts')
  const { finishRestore } = await import('../restored/finish-restore.ts')
  /** A ledger in restore mode buys nothing; the chain may be read at the next pass where it cannot be read now. */
  async function leaveRestoreMode(): Promise<void> {
    try {
      await finishRestore(options, account?.address)
    } catch (error) {
      log.warn(
        { problem: describeError(error) },
        'the chain cannot be read yet, and a restored ledger waits for that',
      )
    }
  }
  if (account && config.apiKey === undefined)
    await noticeRestore(options, account.address).catch((error: unknown) =>
      log.debug(
        { problem: describeError(error) },
        'the chain was not asked for payments of before a restore',
      ),
    )
  await leaveRestoreMode()
  const payments = createPayments({
    config,
    db,
    chain,
    account,
    settled: options.settled,
    usedBefore: (authorization, transaction) =>
      authorization.terms.protocol === 'x402'
        ? wasUsedBefore(options, authorization, transaction)
        : Promise.resolve(false),
    ledgerId: await ledgerId(db, options.randomBytes),
    send: (request) => waitOutside(() => service.send(request)),
    wireBody: service.wireBody,
    acquirePermit,
    prepareBulk: service.prepareBulk,
    resume: service.resume,
    freshUntil,
    screen,
    now,
    wrapJournal: options.wrapJournal,
    onExchange: meter.exchange,
    observer,
    onUnpaidRequest: (runId) => void runs.countRequests(runId, { unpaid: 1 }).catch(() => {}),
    onWarning: ({ kind, field, to }, endpoint) =>
      moduleLog(log, 'service').warn(
        { endpoint, field, to },
        `the service has ${kind} a field of our request`,
      ),
    onError: (error) =>
      moduleLog(log, 'pay').warn({ problem: describeError(error) }, 'a charge could not be resolved yet'),
  })
  return {
    ...payments,
    async resolve(restedMs) {
      await leaveRestoreMode()
      return payments.resolve(restedMs)
    },
  }
}
