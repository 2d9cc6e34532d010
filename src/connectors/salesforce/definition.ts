import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import { httpsUrl } from '../../domain/https-url.ts'
import { entityObjects } from '../../domain/mapping/mapping.ts'
import { mappingSchemaOf, resolveMapping } from '../../domain/mapping/schema.ts'
import { ofType, setting } from '../../domain/setting.ts'
import { defineCrm } from '../definition.ts'
import type { SalesforceAuth } from './api/login.ts'
import { capabilities } from './capabilities.ts'
import { longId } from './ids.ts'
import { salesforceMapping } from './mapping.ts'

const fileSchema = z.strictObject({
  mapping: mappingSchemaOf(salesforceMapping).optional(),
  apiVersion: setting(ofType("version, such as `'68.0'`", z.string().regex(/^\d+\.0$/)), {
    means: 'version of the API',
    default: '68.0',
    example: '67.0',
  }),
  bulkThreshold: setting(z.number().int().min(200), {
    means: 'number of records in one write from which Bulk API 2.0 is used',
    default: 2000,
    example: 5000,
  }),
  quotaShare: setting(z.number().min(0.01).max(1), {
    means: "share of the org's daily API requests at which Paydirt stops",
    default: 0.8,
    example: 0.5,
  }),
  allowDuplicates: setting(z.boolean(), {
    means: "save records that the org's duplicate rules would hold back (`Sforce-Duplicate-Rule-Header`)",
    default: false,
    example: true,
  }),
  autoAssign: setting(z.union([z.boolean(), z.string()]), {
    means: 'whether, or by which rule (its id), written leads are assigned (`Sforce-Auto-Assign`)',
    default: false,
    example: '01Q000000000001AAA',
  }),
})

interface SalesforceSettings extends z.output<typeof fileSchema> {
  auth: SalesforceAuth
  loginUrl: string
}

const text = z.string().min(1)

export const salesforce = defineCrm({
  label: 'Salesforce',
  capabilities,
  entities: entityObjects(salesforceMapping),
  mapping: salesforceMapping,
  /** Salesforce shows the same id with 15 and with 18 characters. */
  canonicalId: (id) => longId(id) ?? id,
  variables: {
    SALESFORCE_LOGIN_URL: setting(httpsUrl, {
      means: 'My Domain of the org',
      example: 'https://example.my.salesforce.com',
    }),
    SALESFORCE_CLIENT_ID: setting(text, {
      means: 'consumer key of the connected app',
      example: '3MVG9exampleConsumerKey',
    }),
    SALESFORCE_CLIENT_SECRET: setting(text, {
      isSecret: true,
      means: 'client credentials flow: its consumer secret',
    }),
    SALESFORCE_USERNAME: setting(text, {
      means: 'JWT bearer flow instead: the user',
      example: 'paydirt@example.com',
    }),
    SALESFORCE_JWT_KEY_FILE: setting(text, {
      means: 'the file with the private key that signs for that user (PEM)',
      example: '/etc/paydirt/salesforce.pem',
    }),
  },
  needs: ['SALESFORCE_LOGIN_URL', 'SALESFORCE_CLIENT_ID', 'SALESFORCE_CLIENT_SECRET'],
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

  async open(settings, { budget, networkHosts }) {
    const { mapping, allowDuplicates, autoAssign, ...rest } = settings
    const { createSalesforceConnector } = await import('./salesforce-connector.ts')
    return createSalesforceConnector({
      ...rest,
      callBudget: budget,
      networkHosts,
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
