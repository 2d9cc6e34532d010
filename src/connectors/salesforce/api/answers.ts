import { z } from 'zod'

/** Schemas of the REST API's answers, with the fields that are read here. */

const rowSchema = z.looseObject({ Id: z.string() })
export type Row = z.infer<typeof rowSchema>

export const querySchema = z.object({
  done: z.boolean(),
  records: z.array(rowSchema),
  nextRecordsUrl: z.string().nullish(),
})

/** The answer to a `SELECT COUNT()`, which has no records. */
export const countSchema = z.object({ totalSize: z.number() })

export const retrieveSchema = z.array(rowSchema.nullable())

const saveErrorSchema = z.object({
  statusCode: z.string(),
  message: z.string(),
  fields: z.array(z.string()).default([]),
})
export type SaveError = z.infer<typeof saveErrorSchema>

/** The matches of a duplicate rule; the key is spelled `duplicateResut` in most answers. */
const matchesSchema = z
  .object({
    duplicateRule: z.string().optional(),
    matchResults: z
      .array(
        z.object({
          entityType: z.string().optional(),
          matchRecords: z.array(z.object({ record: z.object({ Id: z.string() }) })).default([]),
        }),
      )
      .default([]),
  })
  .optional()
export type Matches = NonNullable<z.infer<typeof matchesSchema>>

/** The errors of a single record: its code has another name than in a collection. */
export const refusalsSchema = z
  .array(
    z.object({
      errorCode: z.string(),
      message: z.string().default(''),
      fields: z.array(z.string()).default([]),
      duplicateResut: matchesSchema,
      duplicateResult: matchesSchema,
    }),
  )
  .min(1)

export const compositeSchema = z.object({
  compositeResponse: z.array(z.object({ httpStatusCode: z.number(), body: z.unknown() })),
})

export const saveResultSchema = z.object({
  id: z.string().nullish(),
  success: z.boolean(),
  errors: z.array(saveErrorSchema).default([]),
})
export const saveResultsSchema = z.array(saveResultSchema)

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
  createable: z.boolean().default(false),
  defaultedOnCreate: z.boolean().default(false),
  unique: z.boolean().default(false),
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
  createable: z.boolean().default(false),
  fields: z.array(fieldSchema),
  childRelationships: z
    .array(z.object({ childSObject: z.string(), relationshipName: z.string().nullish() }))
    .default([]),
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
