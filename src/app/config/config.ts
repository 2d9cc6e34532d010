import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import type { Windows } from '../../domain/freshness.ts'
import { atomicCredits } from '../../domain/credits.ts'
import { parseUsd, type Atomic } from '../../domain/money.ts'
import { usd } from '../../domain/usd-schema.ts'
import { defaultPrices, pricedSlots } from '../../domain/planning/prices.ts'
import type { FactSlot, PriceTable } from '../../domain/planning/step.ts'
import { recipesSchema, resolveRecipes } from '../../domain/planning/recipe-schema.ts'
import { defaultRecipeName, type RecipeBook } from '../../domain/planning/recipes.ts'
import { objectKinds, operations } from '../../domain/words.ts'
import type { Caps } from '../../pay/budget.ts'
import { basePolicy, type SpendingPolicy } from '../../pay/spending-policy.ts'
import { deskConfig, deskSchema, type DeskConfig } from './desk.ts'
import { httpConfig, httpSchema, type HttpConfig } from './http.ts'
import { csv } from '../../connectors/csv/definition.ts'
import { connectorsSchema, readConnectors, type ConnectorsConfig } from '../../connectors/definitions.ts'
import { version } from './version.ts'
import { endpointNames, type Paths } from '../../service/endpoints/paths.ts'
import { policiesSchema, retentionSchema, type Policies } from './policies.ts'
import { alertConfig, alertsSchema, type AlertConfig } from './alerts.ts'
import { schedulesOf, schedulesSchema, type Schedule } from './schedules.ts'
import type { Environment } from './environment.ts'
import { telemetryConfig, type TelemetryConfig } from './telemetry.ts'

const days = z.number().min(0).max(3650)

/** What `paydirt.config.ts` may hold. Every key is optional; the environment's variables win over it. */
export const fileSchema = z.strictObject({
  /** Sent as the `User-Agent`. The service's edge blocks generic ones. */
  userAgent: z.string().min(3).optional(),
  service: z
    .strictObject({
      /** `name: value` of the header by which the logo endpoint marks its placeholder. */
      logoPlaceholderHeader: z.string().includes(':').optional(),
      /** Fetch the logo of a company whose domain is known (free). */
      logos: z.boolean().optional(),
      /** Paths of endpoints below the base address, where the service has others than the defaults. */
      paths: z.partialRecord(z.enum(endpointNames), z.string().startsWith('/')).optional(),
    })
    .optional(),
  payment: z
    .strictObject({
      maxPriceUsd: usd.optional(),
      /** The same for single steps, which cost more: `{ 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' }`. */
      maxPricesUsd: z.partialRecord(z.enum(pricedSlots as [FactSlot, ...FactSlot[]]), usd).optional(),
      /** What the service takes for a step, where that is not what its documentation says; plans and ceilings count with it. */
      pricesUsd: z.partialRecord(z.enum(pricedSlots as [FactSlot, ...FactSlot[]]), usd).optional(),
      /** Ways of paying, the preferred first. `mpp_card` needs a token of a card and is off unless named. */
      protocols: z
        .array(z.enum(['x402', 'mpp']))
        .min(1)
        .optional(),
      /** Accept challenges over 0 USD (included free units); they are answered with a signed proof of 0. */
      acceptsFree: z.boolean().optional(),
      /** Realms that an MPP challenge may name; default: the service's own host. */
      realms: z.array(z.string().min(1)).optional(),
      /** The server repeats its answer for the same `Idempotency-Key` (MPP does not say so in its challenges). */
      mppRepeatsAnswers: z.boolean().optional(),
      /** The header that carries the proof, where the one of the challenge's version is not wanted. */
      proofHeader: z.string().optional(),
      /** Life of a signed authorization, in seconds. */
      authorizationSeconds: z.number().int().min(30).max(900).optional(),
      /** Buy again, once, what was paid for and never answered. */
      rebuyLost: z.boolean().optional(),
    })
    .optional(),
  budgets: z
    .strictObject({
      runUsd: usd.optional(),
      dayUsd: usd.optional(),
      monthUsd: usd.optional(),
      connectorDayUsd: z.record(z.string(), usd).optional(),
      /** Caps in credits, for direct access by API key. */
      creditsRun: z.number().int().positive().optional(),
      creditsDay: z.number().int().positive().optional(),
    })
    .optional(),
  /** What a run wants to know of each record and may buy for it, by name and object; beside the built-in ones. */
  recipes: recipesSchema.optional(),
  /** The recipe of a run that names none. Default: `profile`. */
  recipe: z.string().min(1).optional(),
  /** Days for which an answer is not bought again; for each operation where one has its own. */
  freshness: z
    .strictObject({
      foundDays: days.optional(),
      notFoundDays: days.optional(),
      operations: z
        .partialRecord(
          z.enum(operations),
          z.strictObject({ foundDays: days.optional(), notFoundDays: days.optional() }),
        )
        .optional(),
    })
    .optional(),
  /** Lookups that go out in one request, where the service takes several; 1: each alone. Default: 25 and 10. */
  bulk: z
    .strictObject({
      contactLookup: z.number().int().min(1).max(100).optional(),
      redemption: z.number().int().min(1).max(100).optional(),
    })
    .optional(),
  /** What may be written over what, a connector and field. */
  policies: policiesSchema.optional(),
  retention: retentionSchema.optional(),
  schedules: schedulesSchema.optional(),
  /** When somebody is told. */
  alerts: alertsSchema.optional(),
  pacing: z
    .strictObject({
      concurrency: z.number().int().min(1).max(500).optional(),
      /** Requests a second to begin with, before anything is learned of the service's limit. */
      startPerSecond: z.number().positive().optional(),
      maxPerSecond: z.number().positive().optional(),
    })
    .optional(),
  connectors: connectorsSchema.optional(),
  /** Who may call the web role, and how. */
  http: httpSchema.optional(),
  desk: deskSchema.optional(),
  csv: csv.file.optional(),
})

export type FileConfig = z.input<typeof fileSchema>

/** Types a `paydirt.config.ts`; the check comes when it is loaded. */
export function defineConfig(config: FileConfig): FileConfig {
  return config
}

/** Everything that was settled, once, before anything starts. */
export interface Config {
  serviceUrl: string | undefined
  logoUrl: string | undefined
  logoPlaceholderHeader: string | undefined
  logos: boolean
  networkName: string
  userAgent: string
  walletKey: `0x${string}` | undefined
  rpcUrl: string
  policy: SpendingPolicy
  proofHeader: string | undefined
  mppRepeatsAnswers: boolean
  /** Bearer of the buyer's own agent, sent beside the payment (service.md, 5.3). */
  buyerToken: string | undefined
  /** Direct access: the key pays in credits, and no wallet is needed. */
  apiKey: { key: string; header: string } | undefined
  authorizationSeconds: number
  rebuyLost: boolean
  caps: Caps & { runAtomic: Atomic; dayAtomic: Atomic }
  freshness: Windows
  recipes: RecipeBook
  /** The recipe of a run that names none. */
  defaultRecipe: string
  /** What each step costs at most, as far as that is known before it is asked for. */
  prices: PriceTable
  /** The most lookups in one request. */
  bulk: { 'contact.lookup': number; 'contact.redeem': number }
  /** Of the service's endpoints, those that are not where they are by default. */
  paths: Paths
  policies: Policies
  schedules: Schedule[]
  alerts: AlertConfig
  /** Undefined: for ever. */
  answersKeptDays: number | undefined
  concurrency: number
  startPerSecond: number | undefined
  maxPerSecond: number | undefined
  csvSynonyms: Record<string, string[]>
  connectors: ConnectorsConfig
  dataDir: string
  databaseUrl: string | undefined
  redisUrl: string | undefined
  /** Prefix of every Redis key: two installations may share a server. */
  redisPrefix: string
  host: string
  port: number
  metricsToken: string | undefined
  /** Absent: no traces are sent. */
  telemetry: TelemetryConfig | undefined
  http: HttpConfig
  desk: DeskConfig
  logLevel: string
}

const defaults = { maxPriceUsd: '0.01', runUsd: '50', dayUsd: '100' }

/** Reads `paydirt.config.ts` (or .js, .mjs) of a directory, when there is one. */
export async function loadConfigFile(directory: string): Promise<z.output<typeof fileSchema>> {
  const file = ['paydirt.config.ts', 'paydirt.config.js', 'paydirt.config.mjs']
    .map((name) => resolve(directory, name))
    .find((path) => existsSync(path))
  if (!file) return {}
  let exported: unknown
  try {
    exported = ((await import(pathToFileURL(file).href)) as { default?: unknown }).default
  } catch (error) {
    throw new ConfigError('bad_config', `${file} cannot be loaded: ${(error as Error).message}`, {
      cause: error,
    })
  }
  const result = fileSchema.safeParse(exported)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new ConfigError(
    'bad_config',
    `${file}: ${issue?.path.join('.') || 'the default export'}: ${issue?.message ?? 'is invalid'}`,
  )
}

/** Throws ConfigError for a recipe that names what there is not, and for a default that is no recipe. */
export function resolveConfig(env: Environment, file: z.output<typeof fileSchema>): Config {
  const recipes = resolveRecipes(file.recipes)
  const defaultRecipe = file.recipe ?? defaultRecipeName
  for (const object of objectKinds) recipes(object, defaultRecipe)
  return {
    serviceUrl: env.PAYDIRT_SERVICE_URL,
    logoUrl: env.PAYDIRT_LOGO_URL,
    logoPlaceholderHeader: file.service?.logoPlaceholderHeader,
    logos: file.service?.logos ?? true,
    networkName: env.PAYDIRT_NETWORK_NAME ?? 'profnet',
    userAgent: file.userAgent ?? `paydirt/${version}`,
    walletKey: env.PAYDIRT_WALLET_KEY as `0x${string}` | undefined,
    rpcUrl: env.PAYDIRT_RPC_URL ?? 'https://mainnet.base.org',
    policy: {
      ...basePolicy,
      maxPriceAtomic:
        env.PAYDIRT_MAX_PRICE_USD ?? file.payment?.maxPriceUsd ?? parseUsd(defaults.maxPriceUsd),
      ...(file.payment?.maxPricesUsd ? { maxPrices: file.payment.maxPricesUsd } : {}),
      acceptsFree: file.payment?.acceptsFree ?? false,
      recipients: env.PAYDIRT_PAY_TO ?? [],
      ...(file.payment?.realms ? { realms: file.payment.realms } : {}),
      order: file.payment?.protocols ?? ['x402', 'mpp'],
    },
    proofHeader: file.payment?.proofHeader,
    mppRepeatsAnswers: file.payment?.mppRepeatsAnswers ?? false,
    buyerToken: env.PAYDIRT_BUYER_TOKEN,
    apiKey:
      env.PAYDIRT_API_KEY === undefined
        ? undefined
        : { key: env.PAYDIRT_API_KEY, header: env.PAYDIRT_API_KEY_HEADER ?? 'x-api-key' },
    authorizationSeconds: file.payment?.authorizationSeconds ?? 300,
    rebuyLost: file.payment?.rebuyLost ?? true,
    caps: {
      runAtomic: env.PAYDIRT_BUDGET_RUN_USD ?? file.budgets?.runUsd ?? parseUsd(defaults.runUsd),
      dayAtomic: env.PAYDIRT_BUDGET_DAY_USD ?? file.budgets?.dayUsd ?? parseUsd(defaults.dayUsd),
      ...(file.budgets?.monthUsd === undefined ? {} : { monthAtomic: file.budgets.monthUsd }),
      ...(file.budgets?.connectorDayUsd ? { connectorDayAtomic: file.budgets.connectorDayUsd } : {}),
      ...(file.budgets?.creditsRun ? { creditsRun: atomicCredits(file.budgets.creditsRun) } : {}),
      ...(file.budgets?.creditsDay ? { creditsDay: atomicCredits(file.budgets.creditsDay) } : {}),
    },
    freshness: {
      foundDays: file.freshness?.foundDays ?? 90,
      notFoundDays: file.freshness?.notFoundDays ?? 30,
      ...(file.freshness?.operations ? { operations: file.freshness.operations } : {}),
    },
    recipes,
    defaultRecipe,
    prices: { ...defaultPrices, ...file.payment?.pricesUsd },
    paths: file.service?.paths ?? {},
    bulk: {
      'contact.lookup': file.bulk?.contactLookup ?? 25,
      'contact.redeem': file.bulk?.redemption ?? 10,
    },
    policies: file.policies ?? {},
    schedules: schedulesOf(file.schedules),
    alerts: alertConfig(env, file.alerts),
    answersKeptDays: file.retention?.answersDays,
    // Enough for 50 a second with an answer in a second.
    concurrency: file.pacing?.concurrency ?? 64,
    startPerSecond: file.pacing?.startPerSecond,
    maxPerSecond: file.pacing?.maxPerSecond,
    csvSynonyms: file.csv?.synonyms ?? {},
    connectors: readConnectors(env, file.connectors),
    dataDir: resolve(env.PAYDIRT_DATA_DIR ?? '.paydirt'),
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    redisPrefix: env.PAYDIRT_REDIS_PREFIX ?? 'paydirt',
    host: env.PAYDIRT_HOST ?? '127.0.0.1',
    port: env.PAYDIRT_PORT ?? 8080,
    metricsToken: env.PAYDIRT_METRICS_TOKEN,
    telemetry: telemetryConfig(env),
    http: httpConfig(env, file.http),
    desk: deskConfig(env, file.desk),
    logLevel: env.PAYDIRT_LOG_LEVEL ?? 'warn',
  }
}
