import { z } from 'zod'

// As in company.ts: no field is required, and no unknown field is dropped.
const text = z.string().nullish()
const integer = z.number().nullish()

const positionSchema = z.looseObject({
  meta: text,
  title: text,
  start_date: text,
  end_date: text,
  location: text,
  subtitle: text,
  description_html: text,
})

/** One employer with the positions held there. `end_date` of a position is a date text or the word for today. */
const employmentSchema = z.looseObject({
  title: text,
  duration: text,
  logo_url: text,
  company_name: text,
  profnet_url: text,
  profnet_name: text,
  unformatted_description: text,
  positions: z.array(positionSchema).nullish(),
})

/** The person record inside `data` of a person lookup. */
export const personSchema = z.looseObject({
  name: text,
  headline: text,
  description: text,
  city: text,
  location: text,
  country_code: text,
  logo_url: text,
  image_url: text,
  created_at: text,
  profnet_uid: text,
  profnet_url: text,
  profnet_name: text,
  follower_size: integer,
  connection_size: integer,
  education: z.array(z.unknown()).nullish(),
  honors_and_awards: z.array(z.unknown()).nullish(),
  bio: z.array(z.looseObject({ url: text, title: text })).nullish(),
  company: z
    .looseObject({ location: text, company_name: text, profnet_url: text, profnet_name: text })
    .nullish(),
  recommendations: z.array(z.string().nullable()).nullish(),
  similar_profiles: z.array(z.looseObject({ name: text, headline: text, profnet_url: text })).nullish(),
  people_also_viewed: z
    .array(z.looseObject({ name: text, headline: text, location: text, profnet_url: text }))
    .nullish(),
  recent_activities: z
    .array(z.looseObject({ id: text, title: text, image_url: text, interaction: text, profnet_url: text }))
    .nullish(),
  employment_history: z.array(employmentSchema).nullish(),
})

export type Person = z.infer<typeof personSchema>
export type Employment = z.infer<typeof employmentSchema>
