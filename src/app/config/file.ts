import { existsSync, readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { csv } from '../../connectors/csv/definition.ts'
import { connectorsSchema } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { recipesSchema } from '../../domain/planning/recipe-schema.ts'
import { operations } from '../../domain/words.ts'
import { endpointNames } from '../../service/endpoints/paths.ts'
import { alertsSchema } from './alerts.ts'
import { budgetsSchema } from './budgets.ts'
import { describeIssues } from './describe-issues.ts'
import { deskSchema } from './desk.ts'
import { httpSchema } from './http.ts'
import { paymentSchema } from './payment.ts'
import { policiesSchema, retentionSchema } from './policies.ts'
import { schedulesSchema } from './schedules.ts'

const days = z.number().min(0).max(3650)

/** The schema of `paydirt.config.ts`. Every key is optional, and the environment's variables take precedence. */
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
  payment: paymentSchema.optional(),
  budgets: budgetsSchema.optional(),
  /** Which fields a run fills and what it may buy for a record, by name and object; in addition to the built-in recipes. */
  recipes: recipesSchema.optional(),
  /** The recipe of a run that names none. Default: `profile`. */
  recipe: z.string().min(1).optional(),
  /** Days for which an answer is not bought again; single operations may have their own. */
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
  /** Lookups in one request, for operations that the service batches; 1: each alone. Default: 25 and 10. */
  bulk: z
    .strictObject({
      contactLookup: z.number().int().min(1).max(100).optional(),
      redemption: z.number().int().min(1).max(100).optional(),
    })
    .optional(),
  /** Which values may be overwritten, by connector and field. */
  policies: policiesSchema.optional(),
  retention: retentionSchema.optional(),
  schedules: schedulesSchema.optional(),
  /** The conditions that send alerts. */
  alerts: alertsSchema.optional(),
  pacing: z
    .strictObject({
      concurrency: z.number().int().min(1).max(500).optional(),
      /** Requests a second at the start, before the service's limit is learned. */
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

/** Gives a `paydirt.config.ts` its type. It is validated when it is loaded. */
export function defineConfig(config: FileConfig): FileConfig {
  return config
}

const fileNames = ['paydirt.config.ts', 'paydirt.config.js', 'paydirt.config.mjs']

/** Reads `paydirt.config.ts` (or .js, .mjs) of a directory; returns an empty one when there is none. Throws ConfigError. */
export async function loadConfigFile(directory: string): Promise<z.output<typeof fileSchema>> {
  const file = fileNames.map((name) => resolve(directory, name)).find((path) => existsSync(path))
  if (!file) {
    refuseOtherNames(directory)
    return {}
  }
  let exported: unknown
  try {
    exported = ((await importAsModule(file)) as { default?: unknown }).default
  } catch (error) {
    throw new ConfigError('bad_config', `${file} cannot be loaded: ${(error as Error).message}`, {
      cause: error,
    })
  }
  const result = fileSchema.safeParse(exported)
  if (result.success) return result.data
  throw new ConfigError('bad_config', `${file}: ${describeIssues(fileSchema, result.error.issues)}`)
}

/** The name under which a config file imports `defineConfig`, which is all that the package exports. */
const ownPackage = 'paydirt'

/**
 * Imports a file of TypeScript as an ES module, and what it imports from its own folder too, also where the folder's
 * package.json says `"type": "commonjs"`: Node would not read its `export default` there. `paydirt` is always this
 * program: in most folders no package of this name is installed, and another one could be.
 */
async function importAsModule(file: string): Promise<unknown> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === ownPackage)
        return { url: import.meta.url, format: 'module-typescript', shortCircuit: true }
      const resolved = next(specifier, context)
      const isOurs = resolved.format === 'commonjs-typescript' && !resolved.url.includes('/node_modules/')
      return isOurs ? { ...resolved, format: 'module-typescript' } : resolved
    },
  })
  try {
    return await import(pathToFileURL(file).href)
  } finally {
    hooks.deregister()
  }
}

/** Throws ConfigError for a config file under a name that is not read: its caps would not be in force. */
function refuseOtherNames(directory: string): void {
  const other = readdirSync(directory).find((name) =>
    /^\.?pay-?dirt[._-]?(config|conf|rc)\.(ts|mts|cts|js|mjs|cjs|json|jsonc|json5|ya?ml|toml)$/i.test(name),
  )
  if (other === undefined) return
  throw new ConfigError(
    'bad_config',
    `${resolve(directory, other)} is not read; the config file is paydirt.config.ts (or .js, .mjs)`,
  )
}
