import { existsSync } from 'node:fs'
import { z } from 'zod'
import { connectorVariables } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { httpsUrl } from '../../domain/https-url.ts'
import { usd } from '../../domain/usd-schema.ts'
import { isServiceLink, unknownVariables } from './unknown-variables.ts'

const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/, 'is not an address (0x and 40 hex digits)')
const privateKey = z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'is not a private key (0x and 64 hex digits)')
const word = z.string().regex(/^[a-z][a-z0-9_]*$/, 'must be one lower-case word')
const secret = z.string().min(16, 'must have 16 characters at least')
const headerName = z.string().regex(/^[A-Za-z0-9-]+$/, 'is not the name of a header')

/** Every variable that Paydirt reads. A value that is not valid is refused with the variable's name. */
const environmentSchema = z.object({
  PAYDIRT_SERVICE_URL: httpsUrl.optional(),
  PAYDIRT_LOGO_URL: httpsUrl.optional(),
  PAYDIRT_WALLET_KEY: privateKey.optional(),
  /** It decides what became of payments in doubt, so nobody on the way may answer in its place. */
  PAYDIRT_RPC_URL: httpsUrl.optional(),
  PAYDIRT_PAY_TO: z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter(Boolean),
    )
    // An empty list would trust the first recipient that is seen.
    .pipe(z.array(address).min(1, 'names no address; remove it to trust the first recipient that is seen'))
    .optional(),
  PAYDIRT_MAX_PRICE_USD: usd.optional(),
  PAYDIRT_BUDGET_RUN_USD: usd.optional(),
  PAYDIRT_BUDGET_DAY_USD: usd.optional(),
  PAYDIRT_DATA_DIR: z.string().min(1).optional(),
  PAYDIRT_NETWORK_NAME: word.optional(),
  PAYDIRT_API_KEY: z.string().min(1).optional(),
  PAYDIRT_API_KEY_HEADER: headerName.optional(),
  /** Where the web role listens. */
  PAYDIRT_HOST: z.string().min(1).optional(),
  PAYDIRT_PORT: z
    .string()
    .regex(/^\d{1,5}$/, 'is not a port')
    .transform(Number)
    .pipe(z.number().max(65_535, 'is not a port'))
    .optional(),
  /** The public address of the web role, when a proxy is in front of it. Callers sign this address. */
  PAYDIRT_PUBLIC_URL: z.url({ protocol: /^https?$/, error: 'is not an http(s) URL' }).optional(),
  PAYDIRT_SALESFORCE_SECRET: secret.optional(),
  PAYDIRT_MONITOR_SECRET: secret.optional(),
  PAYDIRT_MONITOR_HEADER: headerName.optional(),
  /** Lets `admin` sign in to the desk; `paydirt password` makes it. */
  PAYDIRT_ADMIN_PASSWORD_HASH: z.string().min(1).optional(),
  /** The token of a metrics scraper. Without it, only this machine may read metrics. */
  PAYDIRT_METRICS_TOKEN: z.string().min(16, 'must have 16 characters or more').optional(),
  /** The address of the alert webhook, and the key that signs its messages. */
  PAYDIRT_ALERT_URL: httpsUrl.optional(),
  PAYDIRT_ALERT_SECRET: z.string().min(16, 'must have 16 characters or more').optional(),
  PAYDIRT_BUYER_TOKEN: z.string().min(1).optional(),
  ...connectorVariables,
  PAYDIRT_LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).optional(),
  /** Two installations that share a Redis need different prefixes. */
  PAYDIRT_REDIS_PREFIX: word.optional(),
  /** The standard variables that say whether and where traces are sent. */
  OTEL_SDK_DISABLED: z.string().optional(),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'is not a URL' }).optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: z.url({ protocol: /^https?$/, error: 'is not a URL' }).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: z.string().optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: z.string().optional(),
  OTEL_SERVICE_NAME: z.string().optional(),
  OTEL_RESOURCE_ATTRIBUTES: z.string().optional(),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/, error: 'is not a postgres:// URL' }).optional(),
  REDIS_URL: z.url({ protocol: /^rediss?$/, error: 'is not a redis:// URL' }).optional(),
})

export type Environment = z.infer<typeof environmentSchema>

/** The names of all variables that Paydirt reads, as docs/settings.md lists them. */
export const environmentVariables: readonly string[] = Object.keys(environmentSchema.shape)

/** Loads `.env` of the working directory into the process, without overriding variables that are set. */
export function loadDotEnv(): void {
  if (!existsSync('.env')) return
  try {
    process.loadEnvFile('.env')
  } catch (error) {
    throw new ConfigError('bad_env_file', `.env cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Reads the variables. An empty one counts as absent. Throws ConfigError naming the variable, never its value; also for one
 * that looks like a setting of ours and is none.
 */
export function readEnvironment(env: NodeJS.ProcessEnv): Environment {
  const present: Record<string, string> = {}
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && value !== '' && !isServiceLink(name, value)) present[name] = value
  const unknown = unknownVariables(present, environmentVariables)
  if (unknown.length > 0) throw new ConfigError('bad_environment', unknown.map(describeUnknown).join('; '))
  const result = environmentSchema.safeParse(present)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new ConfigError('bad_environment', `${String(issue?.path[0])} ${issue?.message ?? 'is invalid'}`)
}

function describeUnknown({ name, near }: { name: string; near: string[] }): string {
  return `${name} is not a setting; ${near.length > 0 ? `did you mean ${near.join(' or ')}?` : 'see docs/settings.md'}`
}
