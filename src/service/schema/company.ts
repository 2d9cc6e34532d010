import { z } from 'zod'

// The service does not say which fields are required. Each may be null or absent, and unlisted fields are kept, so that
// a new release of the service never costs a paid answer.
const text = z.string().nullish()
const integer = z.number().nullish()
const texts = z.array(z.string().nullable()).nullish()

const repostSchema = z.looseObject({
  images: z.unknown().optional(),
  videos: z.unknown().optional(),
  repost_id: z.unknown().optional(),
  repost_url: z.unknown().optional(),
  repost_date: z.unknown().optional(),
  repost_text: z.unknown().optional(),
  repost_title: z.unknown().optional(),
  tagged_users: z.unknown().optional(),
  external_links: z.unknown().optional(),
  repost_hangtags: z.unknown().optional(),
  repost_followers: z.unknown().optional(),
  tagged_companies: z.unknown().optional(),
})

const companyActivitySchema = z.looseObject({
  date: text,
  time: text,
  text: text,
  title: text,
  images: texts,
  post_id: text,
  post_url: text,
  likes_count: integer,
  comments_count: integer,
  tagged_people: z.array(z.unknown()).nullish(),
  tagged_companies: z.array(z.unknown()).nullish(),
  repost: repostSchema.nullish(),
})

/** The company record inside `data` of a company lookup. `company_size` is a head count; `created_at` is ISO 8601. */
export const companySchema = z.looseObject({
  title: text,
  alumni: z.unknown().optional(),
  alumni_information: z.unknown().optional(),
  domain: text,
  unique_domain: text,
  company_url: text,
  company_name: text,
  profnet_name: text,
  profnet_uid: text,
  profnet_url: text,
  industry: text,
  description: text,
  unformatted_description: text,
  company_size: integer,
  company_size_printed: text,
  unformatted_company_size: text,
  company_type: text,
  founded_year: integer,
  headquarters: text,
  company_address: text,
  company_addresses: texts,
  unformatted_company_addresses: texts,
  company_address_directions: z.array(z.looseObject({ directions_url: text })).nullish(),
  country_code: text,
  country_codes: texts,
  follower_size: integer,
  logo_url: text,
  image_url: text,
  created_at: text,
  additional_information: text,
  people: z.array(z.looseObject({ name: text, logo_url: text, profnet_url: text })).nullish(),
  affiliated_pages: z
    .array(z.looseObject({ title: text, location: text, subtitle: text, profnet_url: text }))
    .nullish(),
  similar_companies: z
    .array(z.looseObject({ industry: text, location: text, company_name: text, profnet_url: text }))
    .nullish(),
  recent_activities: z.array(companyActivitySchema).nullish(),
})

export type Company = z.infer<typeof companySchema>
export type CompanyActivity = z.infer<typeof companyActivitySchema>
