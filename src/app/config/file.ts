import { existsSync, readdirSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { csv } from '../../connectors/csv/definition.ts'
import { connectorsSchema } from '../../connectors/definitions.ts'
import { ConfigError } from '../../domain/errors.ts'
import { recipesSchema } from '../../domain/planning/recipe-schema.ts'
import { ofType, setting } from '../../domain/setting.ts'
import { operations } from '../../domain/words.ts'
import { defaultLearnerSettings } from '../../queues/pacer/learner.ts'
import { openVocabularyNames } from '../../service/catalogue/vocabularies.ts'
import { endpointNames } from '../../service/catalogue/path-names.ts'
import { alertsSchema } from './alerts.ts'
import { budgetsSchema } from './budgets.ts'
import { describeIssues } from './describe-issues.ts'
import { databaseSchema } from './stores/database.ts'
import { deskSchema } from './desk.ts'
import { httpSchema } from './http.ts'
import { logSchema } from './observing/log.ts'
import { listsSchema } from './lists.ts'
import { paymentSchema } from './payment.ts'
import { operationsSchema } from './operations.ts'
import { policiesSchema, retentionSchema } from './policies.ts'
import { schedulesSchema } from './schedules.ts'
import { monitorsSchema } from './watching/monitors.ts'
import { championsSchema } from './watching/champions.ts'
import { signalsSchema } from './watching/signals.ts'

const hostName = ofType(
  'host name',
  z.string().regex(/^[a-z0-9-]+(\.[a-z0-9-]+)+$/, 'must be a host name in lower case, such as profnet.com'),
)
const days = ofType('days, 0 to 3650', z.number().min(0).max(3650))

/**
 * The schema of `paydirt.config.ts`. Every key is optional, and the environment's variables take precedence. The notes are
 * what docs/configuration.md says of each key.
 */
export const fileSchema = z.strictObject({
  userAgent: setting(z.string().min(3), {
    means: "sent with each request; the service's edge blocks generic ones",
    defaultText: '`paydirt/VERSION`',
    example: 'acme-crm/1.0',
  }),
  service: z
    .strictObject({
      logoPlaceholderHeader: setting(ofType('`name: value`', z.string().includes(':')), {
        means: 'the header by which the logo endpoint marks its placeholder',
        example: 'x-logo: none',
      }),
      logos: setting(z.boolean(), {
        means: 'fetch the logo of a company whose domain is known (free)',
        default: true,
        example: false,
      }),
      networkHosts: setting(z.array(hostName).min(1), {
        means:
          "hosts of the network's profiles: a profile is the same on all of them, and requests name the first",
        defaultText: 'those of the network, such as `profnet.com`',
        example: ['profnet.com', 'profnet.net'],
      }),
      paths: setting(z.partialRecord(z.enum(endpointNames), z.string().startsWith('/')), {
        type: 'path by [endpoint](#endpoints)',
        means: 'paths of endpoints below the base address, where the service has others than the defaults',
        example: { companyEnrichment: '/companies/enrich' },
      }),
      operations: setting(operationsSchema, {
        type: '`{ method, path, access, fields, rename, priceUsd }` by [operation](#operations)',
        means: 'the wire of single operations, where it differs from the catalogue',
        example: {
          'job.search': {
            path: '/job-postings/search',
            fields: { rows: 'data.jobs', total: 'data.pagination.total' },
            rename: { domains: 'company_domains' },
            priceUsd: '0.02',
          },
        },
      }),
      vocabularies: setting(
        z.partialRecord(z.enum(openVocabularyNames), z.array(z.string().trim().min(1).max(200)).min(1)),
        {
          type: 'list of words by vocabulary',
          means: 'words that filters take beside those that answers have held',
          defaultText: 'none',
          example: { job_functions: ['sales', 'human resources'], stages: ['exploring'] },
        },
      ),
    })
    .optional(),
  payment: paymentSchema.optional(),
  budgets: budgetsSchema.optional(),
  recipe: setting(z.string().min(1), {
    means: 'the [recipe](recipes.md) of a run that names none',
    default: 'profile',
    example: 'contact',
  }),
  recipes: recipesSchema.optional(),
  freshness: z
    .strictObject({
      foundDays: setting(days, {
        means: 'days for which an answer is not bought again',
        default: 90,
        example: 180,
      }),
      notFoundDays: setting(days, {
        means: 'the same when nothing was found',
        default: 30,
        example: 14,
      }),
      operations: setting(
        z.partialRecord(
          z.enum(operations),
          z.strictObject({ foundDays: days.optional(), notFoundDays: days.optional() }),
        ),
        {
          type: '`{ foundDays, notFoundDays }` by [operation](#operations)',
          means: 'the same for single operations',
          example: { 'company.enrich': { foundDays: 30 } },
        },
      ),
    })
    .optional(),
  bulk: z
    .strictObject({
      contactLookup: setting(z.number().int().min(1).max(100), {
        means: 'the most contact lookups in one request; 1: each alone',
        default: 25,
        example: 1,
      }),
      redemption: setting(z.number().int().min(1).max(100), {
        means: 'the most redemptions in one request',
        default: 10,
        example: 1,
      }),
    })
    .optional(),
  policies: policiesSchema.optional(),
  retention: retentionSchema.optional(),
  schedules: schedulesSchema.optional(),
  lists: listsSchema.optional(),
  signals: signalsSchema.optional(),
  champions: championsSchema.optional(),
  monitors: monitorsSchema.optional(),
  alerts: alertsSchema.optional(),
  pacing: z
    .strictObject({
      concurrency: setting(z.number().int().min(1).max(500), {
        means: 'lookups in flight in one process, and as many beside them that people wait for (at least 8)',
        default: 64,
        example: 16,
      }),
      startPerSecond: setting(z.number().positive(), {
        means: "requests a second to begin with, before the service's limit is learned",
        default: defaultLearnerSettings.initialPerSecond,
        example: 20,
      }),
      maxPerSecond: setting(z.number().positive(), {
        means: 'requests a second at most',
        defaultText: 'what the service allows',
        example: 20,
      }),
    })
    .optional(),
  database: databaseSchema.optional(),
  connectors: connectorsSchema.optional(),
  http: httpSchema.optional(),
  log: logSchema.optional(),
  desk: deskSchema.optional(),
  csv: csv.file.optional(),
})

export type FileConfig = z.input<typeof fileSchema>

/** Gives a `paydirt.config.ts` its type. It is validated when it is loaded. */
export function defineConfig(config: FileConfig): FileConfig {
  return config
}

export const fileNames = ['paydirt.config.ts', 'paydirt.config.js', 'paydirt.config.mjs']

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
  throw new ConfigError('bad_config', `${file}: ${describeIssues(fileSchema, result.error.issues, exported)}`)
}

/** The name under which a config file imports `defineConfig`, which is all that the package exports. */
const ownPackage = 'paydirt'
const selfFormat = import.meta.url.endsWith('.ts') ? 'module-typescript' : 'module'

/**
 * Imports a file of TypeScript as an ES module, and what it imports from its own folder too, also where the folder's
 * package.json says `"type": "commonjs"`: Node would not read its `export default` there. `paydirt` is always this
 * program: in most folders no package of this name is installed, and another one could be.
 */
async function importAsModule(file: string): Promise<unknown> {
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (specifier === ownPackage) return { url: import.meta.url, format: selfFormat, shortCircuit: true }
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
