import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import { httpsUrl } from '../../domain/https-url.ts'
import { entityObjects } from '../../domain/mapping/mapping.ts'
import { mappingSchema, resolveMapping } from '../../domain/mapping/schema.ts'
import { defineCrm } from '../definition.ts'
import type { SalesforceAuth } from './api/login.ts'
import { capabilities } from './capabilities.ts'
import { longId } from './ids.ts'
import { salesforceMapping } from './mapping.ts'

const fileSchema = z.strictObject({
  mapping: mappingSchema.optional(),
  apiVersion: z
    .string()
    .regex(/^\d+\.0$/)
    .optional(),
  /** From this many records in one write on, Bulk API 2.0 is used. */
  bulkThreshold: z.number().int().min(200).optional(),
  /** The share of the org's daily API requests at which we stop. */
  quotaShare: z.number().min(0.01).max(1).optional(),
  allowDuplicates: z.boolean().optional(),
  autoAssign: z.union([z.boolean(), z.string()]).optional(),
})

interface SalesforceSettings extends z.output<typeof fileSchema> {
  auth: SalesforceAuth
  loginUrl: string
}

const text = z.string().min(1).optional()

export const salesforce = defineCrm({
  label: 'Salesforce',
  capabilities,
  entities: entityObjects(salesforceMapping),
  mapping: salesforceMapping,
  /** Salesforce shows the same id with 15 and with 18 characters. */
  canonicalId: (id) => longId(id) ?? id,
  variables: {
    SALESFORCE_LOGIN_URL: httpsUrl.optional(),
    SALESFORCE_CLIENT_ID: text,
    SALESFORCE_CLIENT_SECRET: text,
    SALESFORCE_USERNAME: text,
    SALESFORCE_JWT_KEY_FILE: text,
  },
  required: 'SALESFORCE_LOGIN_URL, SALESFORCE_CLIENT_ID and SALESFORCE_CLIENT_SECRET',
  file: fileSchema,

  /** Client credentials, or a user and the key that signs for it. */
  readSettings(env, file): SalesforceSettings | undefined {
    const { SALESFORCE_LOGIN_URL: loginUrl, SALESFORCE_CLIENT_ID: clientId } = env
    if (loginUrl === undefined) return undefined
    if (clientId === undefined)
      throw new ConfigError('bad_environment', 'SALESFORCE_LOGIN_URL needs SALESFORCE_CLIENT_ID beside it')
    const shared = { ...file, loginUrl }
    if (env.SALESFORCE_CLIENT_SECRET !== undefined) {
      return {
        ...shared,
        auth: { kind: 'client_credentials', clientId, clientSecret: env.SALESFORCE_CLIENT_SECRET },
      }
    }
    const { SALESFORCE_USERNAME: username, SALESFORCE_JWT_KEY_FILE: keyFile } = env
    if (username === undefined || keyFile === undefined) {
      throw new ConfigError(
        'bad_environment',
        'Salesforce needs SALESFORCE_CLIENT_SECRET, or SALESFORCE_USERNAME and SALESFORCE_JWT_KEY_FILE',
      )
    }
    return { ...shared, auth: { kind: 'jwt_bearer', clientId, username, privateKeyPem: readKey(keyFile) } }
  },

  recordUrl: ({ loginUrl }, { entity, id }) =>
    `${loginUrl.replace(/\/+$/, '')}/lightning/r/${entity}/${encodeURIComponent(id)}/view`,

  async open(settings, { budget }) {
    const { mapping, allowDuplicates, autoAssign, ...rest } = settings
    const { createSalesforceConnector } = await import('./salesforce-connector.ts')
    return createSalesforceConnector({
      ...rest,
      callBudget: budget,
      mapping: resolveMapping(salesforceMapping, mapping),
      headers: { allowDuplicates, autoAssign },
    })
  },
})

function readKey(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new ConfigError('bad_environment', `SALESFORCE_JWT_KEY_FILE: ${file} cannot be read`, {
      cause: error,
    })
  }
}
