import { z } from 'zod'

/** Schemas of the REST API's answers, with the fields that are read here. */

const rowSchema = z.looseObject({ Id: z.string() })
export type Row = z.infer<typeof rowSchema>

export const querySchema = z.object({ done: z.boolean(), records: z.array(rowSchema) })

/** The answer to a `SELECT COUNT()`, which has no records. */
export const countSchema = z.object({ totalSize: z.number() })

export const retrieveSchema = z.array(rowSchema.nullable())

const saveErrorSchema = z.object({
  statusCode: z.string(),
  message: z.string(),
  fields: z.array(z.string()).default([]),
})
export type SaveError = z.infer<typeof saveErrorSchema>

export const saveResultsSchema = z.array(
  z.object({
    id: z.string().nullish(),
    success: z.boolean(),
    errors: z.array(saveErrorSchema).default([]),
  }),
)

const fieldSchema = z.object({
  name: z.string(),
  label: z.string(),
  type: z.string(),
  length: z.number().default(0),
  digits: z.number().default(0),
  precision: z.number().default(0),
  scale: z.number().default(0),
  nillable: z.boolean(),
  updateable: z.boolean(),
  filterable: z.boolean().default(true),
  calculated: z.boolean().default(false),
  autoNumber: z.boolean().default(false),
  permissionable: z.boolean().default(false),
  referenceTo: z.array(z.string()).default([]),
  relationshipName: z.string().nullish(),
  restrictedPicklist: z.boolean().default(false),
  picklistValues: z
    .array(
      z.object({
        active: z.boolean(),
        value: z.string(),
        label: z.string().nullish(),
        validFor: z.string().nullish(),
      }),
    )
    .default([]),
  controllerName: z.string().nullish(),
})
export type RawField = z.infer<typeof fieldSchema>

export const describeSchema = z.object({
  name: z.string(),
  keyPrefix: z.string().nullish(),
  updateable: z.boolean(),
  fields: z.array(fieldSchema),
})

export const jobSchema = z.object({
  id: z.string(),
  state: z.enum(['Open', 'UploadComplete', 'InProgress', 'JobComplete', 'Aborted', 'Failed']),
  errorMessage: z.string().nullish(),
})

export const versionsSchema = z.array(z.object({ version: z.string(), label: z.string() }))

export const userSchema = z.object({
  organization_id: z.string(),
  user_id: z.string(),
  preferred_username: z.string(),
})

export const limitsSchema = z.object({
  DailyApiRequests: z.object({ Max: z.number(), Remaining: z.number() }),
})
