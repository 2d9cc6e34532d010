import { randomBytes, randomUUID } from 'node:crypto'
import { privateKeyToAccount, type LocalAccount } from 'viem/accounts'
import type { Connector } from '../connectors/connector.ts'
import { ConfigError } from '../domain/errors.ts'
import type { ChargeJournal } from '../domain/ports/charge-journal.ts'
import type { Send } from '../domain/ports/transport.ts'
import type { Fact } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import { budgetLines } from '../pay/budget.ts'
import { createChain, type Chain } from '../pay/chain.ts'
import { createFunds } from '../pay/funds.ts'
import { createPayer, type Payer } from '../pay/payer.ts'
import { createX402 } from '../pay/x402/protocol.ts'
import { openRedis, type RedisConnection } from '../queues/connection.ts'
import { createPacer, type Pacer } from '../queues/pacer/pacer.ts'
import { createQueues, type Queues } from '../queues/queues.ts'
import { createTakeTurn } from '../queues/turns.ts'
import { answerError } from '../service/answer-error.ts'
import { prepareRequest } from '../service/client.ts'
import { createLogoClient } from '../service/logo.ts'
import { createTransport } from '../service/transport.ts'
import { createChargeJournal } from '../store/charges.ts'
import { openDatabase, type OpenDatabase } from '../store/database.ts'
import { createLookupLedger, type LookupLedger } from '../store/lookups.ts'
import { ledgerId } from '../store/meta.ts'
import { createRunLedger, type RunLedger } from '../store/runs.ts'
import { createTaskLedger, type TaskLedger } from '../store/tasks.ts'
import { createTermsBook } from '../store/terms-book.ts'
import type { Config } from './config.ts'
import { createLog, type Log } from './log.ts'

/** Everything that the parts are built from, in one visible place. A worker takes the few of them that it names. */
export interface Context {
  config: Config
  log: Log
  now: () => Date
  database: OpenDatabase
  runs: RunLedger
  tasks: TaskLedger
  lookups: LookupLedger
  chain: Chain
  connectors: Map<string, Connector>
  /** Opens Redis and what moves work over it: only processes that work need it. */
  openEngine(): Promise<Engine>
  close(): Promise<void>
}

export interface Engine {
  redis: RedisConnection
  queues: Queues
  pacer: Pacer
  payer: Payer
  account: LocalAccount
  prepare: (operation: Operation, request: Record<string, string>) => ReturnType<typeof prepareRequest>
  fetchFree: (operation: Operation, request: Record<string, string>) => Promise<Fact>
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
}

/** What tests put in another's place, or around it. */
export interface Overrides {
  now?: () => Date
  log?: Log
  journal?: (journal: ChargeJournal) => ChargeJournal
  send?: (send: Send) => Send
}

const dayMs = 86_400_000

export async function createContext(config: Config, overrides: Overrides = {}): Promise<Context> {
  const now = overrides.now ?? (() => new Date())
  const log = overrides.log ?? createLog(config.logLevel)
  const database = await openDatabase({
    dataDir: config.dataDir,
    ...(config.databaseUrl === undefined ? {} : { url: config.databaseUrl }),
  })
  const { db } = database
  const releases: (() => Promise<void>)[] = [() => database.close()]
  const runs = createRunLedger(db, { now })
  const tasks = createTaskLedger(db, { now })
  const lookups = createLookupLedger(db, { now })
  const chain = createChain({ rpcUrl: config.rpcUrl, asset: config.policy.asset })

  function freshUntil(_: Operation, outcome: Fact['outcome'], at: Date): Date {
    const { found, notFound } = config.freshDays
    return new Date(at.getTime() + (outcome === 'not_found' ? notFound : found) * dayMs)
  }

  async function openEngine(): Promise<Engine> {
    const serviceUrl = required(
      config.serviceUrl,
      'PAYDIRT_SERVICE_URL',
      'the base address of the data service',
    )
    const key = required(config.walletKey, 'PAYDIRT_WALLET_KEY', 'the private key that signs payments')
    const account = privateKeyToAccount(key)
    const redis = await openRedis(config.redisUrl)
    releases.push(() => redis.close())
    const queues = createQueues(redis.redis, {
      prefix: config.redisPrefix,
      onError: (error) =>
        log.debug({ code: (error as { code?: string }).code, message: error.message }, 'queue'),
    })
    releases.push(() => queues.close())
    const transport = createTransport({ userAgent: config.userAgent, networkName: config.networkName })
    releases.push(() => transport.close())
    const pacer = createPacer(redis.redis, {
      name: new URL(serviceUrl).host,
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
    const payer = createPayer({
      journal: around(overrides.journal, createChargeJournal(db, { now, newId: randomUUID })),
      terms: createTermsBook(db, { now }),
      send: around(overrides.send, transport.send),
      takeTurn: createTakeTurn(pacer, now),
      protocols: [
        createX402({
          account,
          chain,
          ...(config.proofHeader === undefined ? {} : { proofHeader: config.proofHeader }),
        }),
      ],
      policy: config.policy,
      funds: createFunds({ address: account.address, balanceOf: chain.balanceOf, now }),
      budgetLines: (charge) => budgetLines(charge, config.caps),
      freshUntil,
      errorFor: answerError,
      ledgerId: await ledgerId(db, randomBytes),
      lifetimeSeconds: config.authorizationSeconds,
      rebuyLost: config.rebuyLost,
      now,
      onRequest: (runId) => void runs.countRequests(runId, { unpaid: 1 }).catch(() => {}),
    })
    return {
      redis,
      queues,
      pacer,
      payer,
      account,
      prepare: (operation, request) => prepareRequest(serviceUrl, operation, request),
      // Without an address for logos there is nothing to ask: the record goes on without one.
      fetchFree: async (_, request) =>
        logoClient ? logoClient.lookup(request['domain'] ?? '') : { outcome: 'not_found', data: null },
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
    chain,
    connectors: new Map(),
    openEngine: () => (engine ??= openEngine()),
    async close() {
      for (const release of releases.reverse()) await release()
    },
  }
}

function around<T>(wrap: ((inner: T) => T) | undefined, inner: T): T {
  return wrap ? wrap(inner) : inner
}

function required<T>(value: T | undefined, name: string, meaning: string): T {
  if (value === undefined) throw new ConfigError('missing_setting', `${name} is not set: ${meaning}`)
  return value
}
