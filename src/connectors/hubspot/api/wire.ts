import { z } from 'zod'

/**
 * The version of the paths. The client's generated methods use the older `/crm/v3`, which loses support in September
 * 2027, and their decoder drops the errors of a 207. So every call goes by path, under this one version.
 */
export const apiVersion = '2026-09'

export type HubspotEntity = 'companies' | 'contacts'

export const paths = {
  objects: (entity: string) => `/crm/objects/${apiVersion}/${entity}`,
  search: (entity: string) => `/crm/objects/${apiVersion}/${entity}/search`,
  batchRead: (entity: string) => `/crm/objects/${apiVersion}/${entity}/batch/read`,
  batchUpdate: (entity: string) => `/crm/objects/${apiVersion}/${entity}/batch/update`,
  batchUpsert: (entity: string) => `/crm/objects/${apiVersion}/${entity}/batch/upsert`,
  batchArchive: (entity: string) => `/crm/objects/${apiVersion}/${entity}/batch/archive`,
  properties: (entity: string) => `/crm/properties/${apiVersion}/${entity}`,
  validations: (entity: string) => `/crm/property-validations/${apiVersion}/${entity}`,
  groups: (entity: string) => `/crm/properties/${apiVersion}/${entity}/groups`,
  associations: (from: string, to: string) => `/crm/associations/${apiVersion}/${from}/${to}/batch/read`,
  associate: (from: string, to: string) =>
    `/crm/associations/${apiVersion}/${from}/${to}/batch/associate/default`,
  owners: `/crm/owners/${apiVersion}`,
  account: `/account-info/${apiVersion}/details`,
  usage: `/account-info/${apiVersion}/api-usage/daily/private-apps`,
  tokenInfo: '/oauth/v2/private-apps/get/access-token-info',
  token: '/oauth/2026-03/token',
}

/** The property that HubSpot sets with every change of a record. */
export const modifiedProperty: Record<HubspotEntity, string> = {
  companies: 'hs_lastmodifieddate',
  contacts: 'lastmodifieddate',
}

const objectSchema = z.object({
  id: z.string(),
  properties: z.record(z.string(), z.string().nullish()),
  objectWriteTraceId: z.string().optional(),
})
export type HubspotObject = z.output<typeof objectSchema>

export const pageSchema = z.object({
  results: z.array(objectSchema),
  paging: z.object({ next: z.object({ after: z.string() }).optional() }).nullish(),
})

// By HubSpot's documentation any part of an error may be missing, and a `context` is sometimes a text.
const contextSchema = z.record(z.string(), z.array(z.string())).optional().catch(undefined)
const detailsSchema = z
  .array(
    z.object({
      code: z.string().optional().catch(undefined),
      /** May hold values of records: never shown. */
      message: z.string().optional().catch(undefined),
      context: contextSchema,
    }),
  )
  .optional()
  .catch(undefined)

export const batchErrorSchema = z.object({
  category: z.string().default('UNKNOWN'),
  /** May hold values of records: never shown. */
  message: z.string().optional(),
  context: contextSchema,
  errors: detailsSchema,
})
export type BatchError = z.output<typeof batchErrorSchema>

export const batchSchema = z.object({
  results: z.array(objectSchema),
  errors: z.array(batchErrorSchema).optional(),
})

/** The answer to an upsert says of each record whether it is a new one. */
export const upsertSchema = z.object({
  results: z.array(objectSchema.extend({ new: z.boolean().default(false) })),
  errors: z.array(batchErrorSchema).optional(),
})

/** The answer to a batch of which only the errors count. */
export const errorsSchema = z.object({ errors: z.array(batchErrorSchema).optional() })

/** The body of a refusal. */
export const refusalSchema = z.object({
  category: z.string().optional(),
  policyName: z.string().optional(),
  /** May hold values of records: never shown. */
  message: z.string().optional(),
  errors: detailsSchema,
})
export type Refusal = z.output<typeof refusalSchema>

const propertySchema = z.object({
  name: z.string(),
  label: z.string(),
  type: z.string(),
  fieldType: z.string().optional(),
  options: z
    .array(z.object({ label: z.string(), value: z.string(), hidden: z.boolean().optional() }))
    .default([]),
  calculated: z.boolean().optional(),
  externalOptions: z.boolean().optional(),
  hubspotDefined: z.boolean().optional(),
  hasUniqueValue: z.boolean().optional(),
  archived: z.boolean().optional(),
  modificationMetadata: z.object({ readOnlyValue: z.boolean().optional() }).nullish(),
})
export type HubspotProperty = z.output<typeof propertySchema>
export const propertiesSchema = z.object({ results: z.array(propertySchema) })

/** Rules for values. Those that make a property required are not among them. */
export const validationsSchema = z.object({
  results: z.array(
    z.object({
      propertyName: z.string(),
      propertyValidationRules: z
        .array(z.object({ ruleType: z.string(), ruleArguments: z.array(z.string()).default([]) }))
        .default([]),
    }),
  ),
})

export const associationsSchema = z.object({
  results: z.array(
    z.object({
      from: z.object({ id: z.coerce.string() }),
      to: z.array(
        z.object({
          toObjectId: z.coerce.string(),
          associationTypes: z.array(z.object({ label: z.string().nullish() })).default([]),
        }),
      ),
      paging: z.object({ next: z.object({ after: z.string() }).optional() }).nullish(),
    }),
  ),
})

export const ownersSchema = z.object({
  results: z.array(
    z.object({
      id: z.coerce.string(),
      firstName: z.string().nullish(),
      lastName: z.string().nullish(),
      email: z.string().nullish(),
      archived: z.boolean().default(false),
    }),
  ),
  paging: z.object({ next: z.object({ after: z.string() }).optional() }).nullish(),
})

export const accountSchema = z.object({ portalId: z.coerce.string(), timeZone: z.string().optional() })
export const usageSchema = z.object({
  results: z.array(z.object({ usageLimit: z.number(), currentUsage: z.number(), resetsAt: z.string() })),
})
export const tokenInfoSchema = z.object({ scopes: z.array(z.string()) })
export const tokenSchema = z.object({
  access_token: z.string().min(1),
  expires_in: z.number(),
  refresh_token: z.string().optional(),
})
