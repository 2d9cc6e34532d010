import { z } from 'zod'

// As in company.ts: no field is required, and no unknown field is dropped.
const text = z.string().nullish()

/** The whole vocabulary of `people_contact_types`. The service answers any other value with an empty success. */
export const contactTypes = ['email-work', 'email-personal', 'phone'] as const
export type ContactType = (typeof contactTypes)[number]

/** One e-mail or phone. `status` is `Verified` or null. */
const contactValueSchema = z.looseObject({ value: text, type: text, status: text })

/** The entry of the request that a person belongs to, and the confidence of the match. */
const matchSchema = z.looseObject({
  input_index: z.int().nullish(),
  /** `exact`, `similarity_domain` or `similarity_company`. */
  confidence: text,
  input: z.looseObject({ value: text, type: text }).nullish(),
  is_duplicate_input: z.boolean().nullish(),
})

const idSchema = z.union([z.string(), z.number().transform(String)]).nullish()

/** An element of `peoples` in the answer of a contact lookup. */
export const contactSchema = z.looseObject({
  match: matchSchema.nullish(),
  people_search_id: idSchema,
  name: text,
  first_name: text,
  last_name: text,
  title: text,
  profnet_url: text,
  company_name: text,
  domain: text,
  emails: z.array(contactValueSchema).nullish(),
  phones: z.array(contactValueSchema).nullish(),
})

/**
 * An element of `peoples` in the answer of a redemption. In `emails` and `phones`, null means *asked, nothing found*,
 * absent means *not asked*, and `[]` counts as nothing found.
 */
export const redeemedSchema = z.looseObject({
  people_search_id: idSchema,
  name: text,
  profnet_url: text,
  emails: z.array(contactValueSchema).nullish(),
  phones: z.array(contactValueSchema).nullish(),
})

/** The response of a redemption batch when it is started and each time it is polled. */
export const redemptionQuerySchema = z.looseObject({
  redeem_query_id: z.union([z.string().min(1), z.number().transform(String)]).nullish(),
  is_completed: z.boolean().nullish(),
  /** In seconds; a text in some answers. */
  estimated_time: z.union([z.number(), z.string()]).nullish(),
})

export type ContactValue = z.infer<typeof contactValueSchema>
export type Contact = z.infer<typeof contactSchema>
export type Redeemed = z.infer<typeof redeemedSchema>
