import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { z } from 'zod'
import { connectorVariables } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { httpsUrl } from '../../domain/https-url.ts'
import { setting } from '../../domain/setting.ts'
import { usd } from '../../domain/usd-schema.ts'
import {
  addresses,
  headerName,
  httpUrl,
  listenAddress,
  port,
  privateKey,
  secret,
  text,
  word,
} from './variable-types.ts'
import { storeVariables } from './stores/variables.ts'
import { logLevels } from './observing/log.ts'
import { isServiceLink, unknownVariables } from './unknown-variables.ts'

/** Every variable that Paydirt reads, in the groups of docs/configuration.md. */
export const variableGroups = {
  'Service and payment': {
    PAYDIRT_SERVICE_URL: setting(httpsUrl, {
      means: 'base address of the data service',
      example: 'https://data.example.com',
    }),
    PAYDIRT_LOGO_URL: setting(httpsUrl, {
      means: 'base address of the logo endpoint; without it no logos are fetched',
      example: 'https://logo.example.com',
    }),
    PAYDIRT_WALLET_KEY: setting(privateKey, {
      isSecret: true,
      means: 'private key that signs payments',
      defaultText: '`wallet.key` in the data directory',
    }),
    // It decides what became of payments in doubt, so nobody on the way may answer in its place.
    PAYDIRT_RPC_URL: setting(httpsUrl, {
      means: 'JSON-RPC of the chain: balances, payments in doubt, reconciliation',
      default: 'https://mainnet.base.org',
      example: 'https://base.example.com/v1/KEY',
    }),
    PAYDIRT_PAY_TO: setting(addresses, {
      means: 'the only recipients of payments',
      defaultText: 'the first recipient seen at a host is pinned',
      example: '0x2f5e5c1f5a8ed0b0f0ce1c6ab03a9a9e2f0d1c3b',
    }),
    PAYDIRT_NETWORK_NAME: setting(word, {
      means: "the word for the network in the service's paths and field names",
      default: 'profnet',
      example: 'worknet',
    }),
    PAYDIRT_API_KEY: setting(text, {
      isSecret: true,
      means: 'direct access, charged in credits, without a wallet',
    }),
    PAYDIRT_API_KEY_HEADER: setting(headerName, {
      means: 'the header that carries the API key',
      default: 'x-api-key',
      example: 'authorization',
    }),
    PAYDIRT_BUYER_TOKEN: setting(text, {
      isSecret: true,
      means: 'bearer token of your own agent, sent as `ZC-Agent-Authorization`',
    }),
  },
  Caps: {
    PAYDIRT_MAX_PRICE_USD: setting(usd, {
      means: 'the most that one lookup may cost; single steps may have their own in `payment.maxPricesUsd`',
      default: '0.01',
      example: '0.02',
    }),
    PAYDIRT_BUDGET_RUN_USD: setting(usd, {
      means: 'the most that one run may spend',
      default: '50',
      example: '20',
    }),
    PAYDIRT_BUDGET_DAY_USD: setting(usd, {
      means: 'the most that a day (UTC) may cost',
      default: '100',
      example: '60',
    }),
  },
  CRMs: connectorVariables,
  'Data and processes': {
    PAYDIRT_DATA_DIR: setting(text, {
      means: 'where the embedded database is kept; for its owner alone (`0700`, files `0600`)',
      default: '.paydirt',
      example: '/var/lib/paydirt',
    }),
    ...storeVariables,
    PAYDIRT_REDIS_PREFIX: setting(word, {
      means: 'prefix of every key: two installations that share a Redis need two',
      default: 'paydirt',
      example: 'paydirt_test',
    }),
    PAYDIRT_MIGRATE: setting(z.enum(['self', 'wait']), {
      means:
        'which process brings [the schema](upgrades.md) of PostgreSQL up to date: this one, or another (`paydirt migrate`), for which this one waits',
      default: 'self',
      example: 'wait',
    }),
    PAYDIRT_HEALTH: setting(listenAddress, {
      means:
        'where each role of `paydirt start` answers [probes](operations.md), by HTTP; a path is a Unix socket',
      defaultText: 'nowhere',
      example: '0.0.0.0:8081',
    }),
    PAYDIRT_LOG_LEVEL: setting(logLevels, {
      means: 'how much is logged, as JSON lines on standard error, by [module](operations.md#logs)',
      default: 'warn',
      example: 'info,pay=debug',
    }),
  },
  'Web role, desk and alerts': {
    PAYDIRT_HOST: setting(text, {
      means: 'address on which the web role listens',
      default: '127.0.0.1',
      example: '0.0.0.0',
    }),
    PAYDIRT_PORT: setting(port, {
      means: 'port on which the web role listens',
      default: '8080',
      example: '3000',
    }),
    PAYDIRT_PUBLIC_URL: setting(httpUrl, {
      means: 'address under which callers reach the web role; needed behind a proxy, because callers sign it',
      defaultText: 'the address of each request',
      example: 'https://paydirt.example.com',
    }),
    PAYDIRT_SALESFORCE_SECRET: setting(secret, {
      isSecret: true,
      means: 'shared secret for [calls signed with HMAC](http.md)',
    }),
    PAYDIRT_MONITOR_SECRET: setting(secret, {
      isSecret: true,
      means: 'secret that a monitor sends with each delivery',
    }),
    PAYDIRT_MONITOR_HEADER: setting(headerName, {
      means: 'the header that carries it',
      default: 'x-paydirt-monitor-secret',
      example: 'x-monitor-secret',
    }),
    PAYDIRT_MONITOR_SIGNING_SECRET: setting(secret, {
      isSecret: true,
      means: 'secret that deliveries are signed with, where `http.monitor.signature` describes how',
    }),
    PAYDIRT_ADMIN_PASSWORD_HASH: setting(text, {
      isSecret: true,
      means:
        'lets `admin` sign in to [the desk](desk.md); required to listen beyond this machine. `paydirt password` prints it',
    }),
    PAYDIRT_METRICS_TOKEN: setting(secret, {
      isSecret: true,
      means: 'bearer token for `/metrics`',
      defaultText: 'only this machine may scrape',
    }),
    PAYDIRT_ALERT_URL: setting(httpsUrl, {
      means: 'where [alerts](operations.md) are posted',
      defaultText: 'to the log alone',
      example: 'https://hooks.example.com/paydirt',
    }),
    PAYDIRT_ALERT_SECRET: setting(secret, { isSecret: true, means: 'signs alerts' }),
  },
  // The standard names of OpenTelemetry, which say whether and where traces are sent.
  Traces: {
    OTEL_EXPORTER_OTLP_ENDPOINT: setting(httpUrl, {
      means: 'where [traces](operations.md) are sent',
      example: 'http://collector.example.com:4318',
    }),
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: setting(httpUrl, {
      means: 'the same for traces alone, with its path',
      example: 'http://collector.example.com:4318/v1/traces',
    }),
    OTEL_TRACES_EXPORTER: setting(z.enum(['otlp', 'none']), {
      means: 'whether traces are sent',
      defaultText: '`otlp` with an endpoint, else `none`',
      example: 'otlp',
    }),
    OTEL_SDK_DISABLED: setting(z.string(), {
      means: '`true` switches traces off',
      default: 'false',
      example: 'true',
    }),
    OTEL_EXPORTER_OTLP_PROTOCOL: setting(z.string(), {
      means: '`http/json` or `http/protobuf`; `grpc` is refused',
      default: 'http/json',
      example: 'http/json',
    }),
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: setting(z.string(), {
      means: 'the same for traces alone',
      defaultText: '`OTEL_EXPORTER_OTLP_PROTOCOL`',
      example: 'http/json',
    }),
    OTEL_SERVICE_NAME: setting(z.string(), {
      means: 'name of the service in traces',
      default: 'paydirt',
      example: 'paydirt-worker',
    }),
    OTEL_RESOURCE_ATTRIBUTES: setting(z.string(), {
      means: 'attributes of the service in traces: `key=value,key=value`, percent-encoded',
      example: 'deployment.environment=production',
    }),
  },
} as const

/** A value that is not valid is refused with the variable's name. */
const environmentSchema = z.object({
  ...variableGroups['Service and payment'],
  ...variableGroups.Caps,
  ...variableGroups.CRMs,
  ...variableGroups['Data and processes'],
  ...variableGroups['Web role, desk and alerts'],
  ...variableGroups.Traces,
})

export type Environment = z.infer<typeof environmentSchema>

/** The names of all variables that Paydirt reads, as docs/configuration.md lists them. */
export const environmentVariables: readonly string[] = Object.keys(environmentSchema.shape)

export const variableSchemas: Readonly<Record<string, z.ZodType>> = environmentSchema.shape

/** Returns what is wrong with a value of a variable, without the value; undefined when nothing is. */
export function problemOf(name: string, value: string): string | undefined {
  const issues = variableSchemas[name]?.safeParse(value).error?.issues
  return issues && (issues[0]?.message ?? 'is invalid')
}

/**
 * Loads `.env` of the working directory into the process, without overriding variables that are set. Returns the names that
 * stand in it.
 */
export function loadDotEnv(): Set<string> {
  if (!existsSync('.env')) return new Set()
  try {
    process.loadEnvFile('.env')
    return new Set(Object.keys(parseEnv(readFileSync('.env', 'utf8'))))
  } catch (error) {
    throw new ConfigError('bad_env_file', `.env cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Reads the variables. An empty one counts as absent. Throws ConfigError naming the variable, never its value; also for one
 * that looks like a setting of ours and is none. `ownFile` has the names that stand in the folder's `.env`.
 */
export function readEnvironment(
  env: NodeJS.ProcessEnv,
  ownFile: ReadonlySet<string> = new Set(),
): Environment {
  const present: Record<string, string> = {}
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && value !== '' && !isServiceLink(name, value)) present[name] = value
  const unknown = unknownVariables(present, environmentVariables, ownFile)
  if (unknown.length > 0) throw new ConfigError('bad_environment', unknown.map(describeUnknown).join('; '))
  const result = environmentSchema.safeParse(present)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new ConfigError('bad_environment', `${String(issue?.path[0])} ${issue?.message ?? 'is invalid'}`)
}

function describeUnknown({ name, near }: { name: string; near: string[] }): string {
  return `${name} is not a setting; ${near.length > 0 ? `did you mean ${near.join(' or ')}?` : 'see docs/configuration.md'}`
}
