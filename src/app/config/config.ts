import { resolve } from 'node:path'
import type { z } from 'zod'
import { readConnectors, type ConnectorsConfig } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import type { Windows } from '../../domain/freshness.ts'
import { recipeNamesFor, resolveRecipes } from '../../domain/planning/recipe-schema.ts'
import { objectOfList } from './lists.ts'
import { defaultRecipeName, type RecipeBook } from '../../domain/planning/recipes.ts'
import { networkHostsOf } from '../../domain/keys.ts'
import { networkWord, objectKinds, type ObjectKind } from '../../domain/words.ts'
import { createCatalogue, type Catalogue } from '../../service/catalogue/catalogue.ts'
import type { RedisAccess } from '../../queues/connection.ts'
import type { Connections } from '../../store/database/database.ts'
import type { VocabularyName } from '../../service/catalogue/vocabularies.ts'
import { alertConfig, type AlertConfig } from './alerts.ts'
import { capsConfig } from './budgets.ts'
import { connectionsConfig, readsConfig, type ProcessRole, type ReadsConfig } from './stores/database.ts'
import { redisConfig } from './stores/redis.ts'
import { deskConfig, type DeskConfig } from './desk.ts'
import type { Environment } from './environment.ts'
import type { fileSchema } from './file.ts'
import { httpConfig, type HttpConfig } from './http.ts'
import { operationPrices } from './operations.ts'
import { paymentConfig, type PaymentConfig } from './payment.ts'
import type { Policies } from './policies.ts'
import type { ListsConfig } from './lists.ts'
import { logConfig, type LogConfig } from './observing/log.ts'
import type { MonitorsConfig } from './watching/monitors.ts'
import { assertAccountBudgets, assertChampionBudgets } from './watching/account-budgets.ts'
import { assertMonitorWords } from './watching/monitor-words.ts'
import { assertFreshChecks } from './watching/fresh-checks.ts'
import type { ChampionsConfig } from './watching/champions.ts'
import type { MigratedBy } from '../../store/database/migrating/migrate.ts'
import type { SignalsConfig } from './watching/signals.ts'
import type { MatchConfig } from './watching/match-lists.ts'
import { schedulesOf, type Schedule } from './schedules.ts'
import type { ListenAddress } from './variable-types.ts'
import { telemetryConfig, type TelemetryConfig } from './observing/telemetry.ts'
import { version } from './version.ts'

/** All settings, resolved once before anything starts. */
export interface Config extends PaymentConfig, MatchConfig {
  serviceUrl: string | undefined
  logoUrl: string | undefined
  logoPlaceholderHeader: string | undefined
  logos: boolean
  networkName: string
  /** The hosts of the network's profiles, the one in requests first. */
  networkHosts: readonly string[]
  userAgent: string
  walletKey: `0x${string}` | undefined
  rpcUrl: string
  /** Bearer of the buyer's own agent, sent beside the payment (service.md, 5.3). */
  buyerToken: string | undefined
  /** Direct access: the key pays in credits, and no wallet is needed. */
  apiKey: { key: string; header: string } | undefined
  caps: ReturnType<typeof capsConfig>
  freshness: Windows
  recipes: RecipeBook
  /** The names of the recipes that there are for each object. */
  recipeNames: Record<ObjectKind, string[]>
  /** The recipe of a run that names none. */
  defaultRecipe: string
  /** The most lookups in one request. */
  bulk: { 'contact.lookup': number; 'contact.redeem': number }
  /** Every operation of the service as the settings say it is on the wire. */
  catalogue: Catalogue
  /** Words that filters take beside those that answers have held. */
  vocabularies: Readonly<Partial<Record<VocabularyName, readonly string[]>>>
  policies: Policies
  schedules: Schedule[]
  lists: ListsConfig
  /** Pipelines of watched accounts, by name. */
  signals: SignalsConfig
  /** People whose jobs are checked again, by the name of the watch. */
  champions: ChampionsConfig
  /** Monitors that stand in the settings, by name. */
  monitors: MonitorsConfig
  alerts: AlertConfig
  /** Undefined: without end. */
  /** The days that rows are kept, by the settings of retention; undefined: for ever. */
  keptDays: Readonly<Record<'answers' | 'signals' | 'records' | 'messages' | 'audit', number | undefined>>
  concurrency: number
  startPerSecond: number | undefined
  maxPerSecond: number | undefined
  csvSynonyms: Record<string, string[]>
  connectors: ConnectorsConfig
  dataDir: string
  databaseUrl: string | undefined
  /** Undefined: pages are read from the primary. */
  reads: ReadsConfig | undefined
  /** Migrates the database, or waits for others, or refuses one that is behind. */
  migratedBy: MigratedBy | 'caller'
  /** The connections of a process to Postgres, by its role. */
  connections: (role: ProcessRole) => Connections
  redisUrl: string | undefined
  redisAccess: RedisAccess
  /** Prefix of every Redis key: two installations may share a server. */
  redisPrefix: string
  host: string
  port: number
  /** Undefined: there is no server for probes. */
  health: ListenAddress | undefined
  metricsToken: string | undefined
  /** Absent: no traces are sent. */
  telemetry: TelemetryConfig | undefined
  http: HttpConfig
  desk: DeskConfig
  log: LogConfig
}

/** Throws ConfigError for a recipe with an unknown field or step, and for a default recipe that does not exist. */
export function resolveConfig(env: Environment, file: z.output<typeof fileSchema>): Config {
  const networkName = env.PAYDIRT_NETWORK_NAME ?? networkWord
  const networkHosts = file.service?.networkHosts ?? networkHostsOf(networkName)
  const recipes = resolveRecipes(file.recipes, networkHosts)
  const defaultRecipe = file.recipe ?? defaultRecipeName
  for (const object of objectKinds) assertRecipe(recipes, object, defaultRecipe)
  for (const [name, list] of Object.entries(file.lists ?? {}))
    if (list.recipe !== undefined)
      assertRecipe(recipes, objectOfList(list), list.recipe, `lists.${name}.recipe`)
  for (const [name, { onMatch }] of Object.entries(file.monitors ?? {})) {
    const place = `monitors.${name}.onMatch`
    if (onMatch?.recipe !== undefined) assertRecipe(recipes, 'company', onMatch.recipe, `${place}.recipe`)
    if (onMatch?.people?.recipe !== undefined)
      assertRecipe(recipes, 'person', onMatch.people.recipe, `${place}.people.recipe`)
  }
  for (const [name, { onJoin }] of Object.entries(file.champions ?? {}))
    if (onJoin?.recipe !== undefined)
      assertRecipe(recipes, 'person', onJoin.recipe, `champions.${name}.onJoin.recipe`)
  assertAccountBudgets(file.signals, file.payment?.maxPricesUsd)
  assertChampionBudgets(file.champions, file.payment?.maxPricesUsd)
  const catalogue = createCatalogue(file.service?.operations, file.service?.paths)
  const vocabularies = file.service?.vocabularies ?? {}
  assertMonitorWords(file.monitors, catalogue, vocabularies)
  const freshness = {
    foundDays: file.freshness?.foundDays ?? 90,
    notFoundDays: file.freshness?.notFoundDays ?? 30,
    operations: file.freshness?.operations ?? {},
  }
  assertFreshChecks(file.signals, freshness)
  return {
    serviceUrl: env.PAYDIRT_SERVICE_URL,
    logoUrl: env.PAYDIRT_LOGO_URL,
    logoPlaceholderHeader: file.service?.logoPlaceholderHeader,
    logos: file.service?.logos ?? true,
    networkName,
    networkHosts,
    userAgent: file.userAgent ?? `paydirt/${version}`,
    walletKey: env.PAYDIRT_WALLET_KEY as `0x${string}` | undefined,
    rpcUrl: env.PAYDIRT_RPC_URL ?? 'https://mainnet.base.org',
    ...paymentConfig(env, file.payment, operationPrices(file.service?.operations)),
    buyerToken: env.PAYDIRT_BUYER_TOKEN,
    apiKey:
      env.PAYDIRT_API_KEY === undefined
        ? undefined
        : { key: env.PAYDIRT_API_KEY, header: env.PAYDIRT_API_KEY_HEADER ?? 'x-api-key' },
    caps: capsConfig(env, file.budgets),
    freshness,
    recipes,
    recipeNames: {
      company: recipeNamesFor(file.recipes, 'company'),
      person: recipeNamesFor(file.recipes, 'person'),
    },
    defaultRecipe,
    catalogue,
    vocabularies,
    bulk: {
      'contact.lookup': file.bulk?.contactLookup ?? 25,
      'contact.redeem': file.bulk?.redemption ?? 10,
    },
    policies: file.policies ?? {},
    schedules: schedulesOf(file.schedules, file.lists, file.signals, file.champions),
    lists: file.lists ?? {},
    signals: file.signals ?? {},
    champions: file.champions ?? {},
    monitors: file.monitors ?? {},
    alerts: alertConfig(env, file.alerts),
    keptDays: {
      answers: file.retention?.answersDays,
      signals: file.retention?.signalsDays ?? 400,
      records: file.retention?.recordsDays,
      messages: file.retention?.messagesDays ?? 400,
      audit: file.retention?.auditDays,
    },
    // Enough for 50 a second with an answer in a second.
    concurrency: file.pacing?.concurrency ?? 64,
    startPerSecond: file.pacing?.startPerSecond,
    maxPerSecond: file.pacing?.maxPerSecond,
    csvSynonyms: file.csv?.synonyms ?? {},
    connectors: readConnectors(env, file.connectors),
    dataDir: resolve(env.PAYDIRT_DATA_DIR ?? '.paydirt'),
    databaseUrl: env.DATABASE_URL,
    reads: readsConfig(env, file.database),
    migratedBy: env.PAYDIRT_MIGRATE === 'wait' ? 'others' : 'self',
    connections: connectionsConfig(file.database),
    ...redisConfig(env),
    host: env.PAYDIRT_HOST ?? '127.0.0.1',
    port: env.PAYDIRT_PORT ?? 8080,
    health: env.PAYDIRT_HEALTH,
    metricsToken: env.PAYDIRT_METRICS_TOKEN,
    telemetry: telemetryConfig(env),
    http: httpConfig(env, file.http),
    desk: deskConfig(env, file.desk),
    log: logConfig(env.PAYDIRT_LOG_LEVEL, file.log),
  }
}

/** Any run may fall back on the default recipe, so it needs a part for each object. */
function assertRecipe(recipes: RecipeBook, object: ObjectKind, name: string, place = 'recipe'): void {
  try {
    recipes(object, name)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    throw new ConfigError(error.code, `${place}: ${error.message}`, { cause: error })
  }
}
