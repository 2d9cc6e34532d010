import { z } from 'zod'
import { ConfigError } from '../../domain/errors.ts'
import { httpsUrl } from '../../domain/https-url.ts'
import { entityObjects } from '../../domain/mapping/mapping.ts'
import { mappingSchemaOf, resolveMapping } from '../../domain/mapping/schema.ts'
import { setting } from '../../domain/setting.ts'
import { defineCrm } from '../definition.ts'
import { capabilities } from './capabilities.ts'
import { hubspotMapping } from './mapping.ts'
import { requiredRuleSchema } from './required.ts'
import type { HubspotAuth } from './api/tokens.ts'

const fileSchema = z.strictObject({
  mapping: mappingSchemaOf(hubspotMapping).optional(),
  tenSecondLimit: setting(z.number().int().positive(), {
    means: 'requests in ten seconds that the plan of the account allows a private app',
    default: 100,
    example: 190,
  }),
  searchLimit: setting(z.number().int().positive(), {
    means: 'searches a second that the account allows',
    default: 5,
    example: 4,
  }),
  portalId: setting(z.string().regex(/^\d{1,20}$/, 'is not the id of an account'), {
    means: "id of the account (Hub ID), for the desk's links into HubSpot",
    defaultText: 'the account of the token',
    example: '12345678',
  }),
  appUrl: setting(httpsUrl, {
    means: "address of HubSpot's pages, for the desk's links",
    defaultText: '`https://app.hubspot.com`, or the stand-in on this machine',
    example: 'https://app-eu1.hubspot.com',
  }),
  required: setting(z.partialRecord(z.enum(['companies', 'contacts']), z.array(requiredRuleSchema)), {
    type: 'list of `{ property, when: { property, is } }` by `companies`, `contacts`',
    means: 'conditional [required properties](crm.md) of the account, by object',
    example: {
      contacts: [{ property: 'region', when: { property: 'lifecyclestage', is: ['customer'] } }],
    },
  }),
})

export interface HubspotSettings extends z.output<typeof fileSchema> {
  auth: HubspotAuth
  baseUrl: string | undefined
}

const text = z.string().min(1)

const typeIds: Readonly<Record<string, string>> = { companies: '0-2', contacts: '0-1' }

export const hubspot = defineCrm({
  label: 'HubSpot',
  capabilities,
  entities: entityObjects(hubspotMapping),
  mapping: hubspotMapping,
  canonicalId: (id) => id,
  variables: {
    HUBSPOT_ACCESS_TOKEN: setting(text, {
      isSecret: true,
      means: 'HubSpot through a private app: its access token',
    }),
    HUBSPOT_CLIENT_ID: setting(text, {
      means: 'HubSpot through OAuth instead: the id of the app',
      example: '7fff1e36-2d40-4ae1-bbb1-5266d59564fb',
    }),
    HUBSPOT_CLIENT_SECRET: setting(text, {
      isSecret: true,
      means: "the app's secret; it also verifies calls from the HubSpot app",
    }),
    HUBSPOT_REFRESH_TOKEN: setting(text, { isSecret: true, means: 'the refresh token of the account' }),
    HUBSPOT_BASE_URL: setting(httpsUrl, {
      means: 'address of the HubSpot API',
      default: 'https://api.hubapi.com',
      example: 'https://api-eu1.hubapi.com',
    }),
  },
  needs: ['HUBSPOT_ACCESS_TOKEN'],
  offers: ['HUBSPOT_CLIENT_SECRET'],
  addressOf: 'HUBSPOT_BASE_URL',
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

  recordUrl({ portalId, appUrl, baseUrl }, { accountId, entity, id }) {
    const account = portalId ?? accountId
    const typeId = typeIds[entity]
    if (account === undefined || typeId === undefined) return undefined
    // A stand-in on this machine shows its own records.
    const own = baseUrl?.startsWith('http:') ? baseUrl : 'https://app.hubspot.com'
    return `${(appUrl ?? own).replace(/\/+$/, '')}/contacts/${account}/record/${typeId}/${encodeURIComponent(id)}`
  },

  async open({ auth, baseUrl, mapping, tenSecondLimit, searchLimit, required }, { budget, networkHosts }) {
    const { createHubspotConnector } = await import('./hubspot-connector.ts')
    return createHubspotConnector({
      ...auth,
      baseUrl,
      budget,
      mapping: resolveMapping(hubspotMapping, mapping),
      limits: { perTenSeconds: tenSecondLimit, searchPerSecond: searchLimit },
      required,
      networkHosts,
    })
  },
})
