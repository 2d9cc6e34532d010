import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import { httpsUrl } from '../../domain/https-url.ts'
import { entityObjects } from '../../domain/mapping/mapping.ts'
import { mappingSchema, resolveMapping } from '../../domain/mapping/schema.ts'
import { defineCrm } from '../definition.ts'
import { capabilities } from './capabilities.ts'
import { hubspotMapping } from './mapping.ts'
import { requiredRuleSchema } from './required.ts'
import type { HubspotAuth } from './api/tokens.ts'

const fileSchema = z.strictObject({
  mapping: mappingSchema.optional(),
  /** Requests in ten seconds that the account's plan allows a private app (100 or 190). */
  tenSecondLimit: z.number().int().positive().optional(),
  /** Searches a second that the account allows. */
  searchLimit: z.number().int().positive().optional(),
  /** The conditional required properties of the account, by object. */
  required: z.partialRecord(z.enum(['companies', 'contacts']), z.array(requiredRuleSchema)).optional(),
})

export interface HubspotSettings extends z.output<typeof fileSchema> {
  auth: HubspotAuth
  baseUrl: string | undefined
}

const text = z.string().min(1).optional()

const typeIds: Readonly<Record<string, string>> = { companies: '0-2', contacts: '0-1' }

export const hubspot = defineCrm({
  label: 'HubSpot',
  capabilities,
  entities: entityObjects(hubspotMapping),
  mapping: hubspotMapping,
  canonicalId: (id) => id,
  variables: {
    HUBSPOT_ACCESS_TOKEN: text,
    HUBSPOT_CLIENT_ID: text,
    HUBSPOT_CLIENT_SECRET: text,
    HUBSPOT_REFRESH_TOKEN: text,
    HUBSPOT_BASE_URL: httpsUrl.optional(),
  },
  required: 'HUBSPOT_ACCESS_TOKEN',
  file: fileSchema,

  /** A private app's token, or the three parts of OAuth. */
  readSettings(env, file): HubspotSettings | undefined {
    const shared = { ...file, baseUrl: env.HUBSPOT_BASE_URL }
    if (env.HUBSPOT_ACCESS_TOKEN !== undefined)
      return { ...shared, auth: { accessToken: env.HUBSPOT_ACCESS_TOKEN } }
    const {
      HUBSPOT_CLIENT_ID: clientId,
      HUBSPOT_CLIENT_SECRET: clientSecret,
      HUBSPOT_REFRESH_TOKEN: refreshToken,
    } = env
    if (refreshToken === undefined) return undefined
    if (clientId === undefined || clientSecret === undefined) {
      throw new ConfigError(
        'bad_environment',
        'HUBSPOT_REFRESH_TOKEN needs HUBSPOT_CLIENT_ID and HUBSPOT_CLIENT_SECRET beside it',
      )
    }
    return { ...shared, auth: { oauth: { clientId, clientSecret, refreshToken } } }
  },

  recordUrl(_settings, { accountId, entity, id }) {
    const typeId = typeIds[entity]
    if (accountId === undefined || typeId === undefined) return undefined
    return `https://app.hubspot.com/contacts/${accountId}/record/${typeId}/${encodeURIComponent(id)}`
  },

  async open({ auth, baseUrl, mapping, tenSecondLimit, searchLimit, required }, { budget }) {
    const { createHubspotConnector } = await import('./hubspot-connector.ts')
    return createHubspotConnector({
      ...auth,
      baseUrl,
      budget,
      mapping: resolveMapping(hubspotMapping, mapping),
      limits: { perTenSeconds: tenSecondLimit, searchPerSecond: searchLimit },
      required,
    })
  },
})
