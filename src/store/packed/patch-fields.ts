import { sql, type RawBuilder } from 'kysely'

/**
 * The fields that a packed patch names by a character. The order is part of what is stored: none is moved or removed, and a field
 * that is not here leaves its patch as it is.
 */
const names = [
  'company_name', 'profnet_url', 'domain', 'website', 'tagline', 'industry', 'description', 'employees',
  'employee_range', 'company_type', 'founded_year', 'headquarters', 'address', 'street', 'city', 'state',
  'postal_code', 'country_code', 'followers', 'full_name', 'first_name', 'last_name', 'headline', 'job_title',
  'company_profnet_url', 'about', 'location', 'connections', 'open_jobs', 'news_items', 'advertisements',
  'similar_companies', 'company_domain', 'company_website', 'company_industry', 'company_employees',
  'company_country_code', 'email', 'email_personal', 'phone', 'mobile_phone', 'logo', 'company_logo',
] // prettier-ignore

const letters = names.map((_, index) => String.fromCharCode('A'.charCodeAt(0) + index + (index < 26 ? 0 : 6)))

/** By letter. */
export const patchFields: ReadonlyMap<string, string> = new Map(
  names.map((name, index) => [letters[index]!, name]),
)
/** By field. */
export const patchLetters: ReadonlyMap<string, string> = new Map(
  names.map((name, index) => [name, letters[index]!]),
)

const byLetter = JSON.stringify(Object.fromEntries(patchFields))

/** The names of a patch's fields, in whichever form it is stored, as a set of rows. */
export function fieldsOfPatch(patch: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select ${sql.lit(byLetter)}::jsonb ->> letter from regexp_split_to_table(${patch} ->> '$f', '') as letter
      where ${patch} ? '$z'
    union all
    select name from jsonb_object_keys(${patch}) as name where not ${patch} ? '$z'
  )`
}
