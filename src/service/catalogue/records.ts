import { fieldNames } from './answer-fields.ts'
import type { AnswerField } from './entry.ts'
import type { Origin } from './origin.ts'

/** The company record (section 2.1). `origin` says whether the description shows that this operation answers with it. */
export function companyFields(origin: Origin): Record<string, AnswerField> {
  return fieldNames(origin, {
    title: 'string',
    alumni: null,
    alumni_information: null,
    domain: 'string',
    unique_domain: 'string',
    company_url: 'string',
    company_name: 'string',
    profnet_name: 'string',
    profnet_uid: 'string',
    profnet_url: 'string',
    industry: 'string',
    description: 'string',
    unformatted_description: 'string',
    company_size: 'number',
    company_size_printed: 'string',
    unformatted_company_size: 'string',
    company_type: 'string',
    founded_year: 'number',
    headquarters: 'string',
    company_address: 'string',
    company_addresses: 'array',
    unformatted_company_addresses: 'array',
    company_address_directions: 'array',
    country_code: 'string',
    country_codes: 'array',
    follower_size: 'number',
    logo_url: 'string',
    image_url: 'string',
    created_at: 'string',
    additional_information: 'string',
    people: 'array',
    affiliated_pages: 'array',
    similar_companies: 'array',
    recent_activities: 'array',
  })
}

/** The person record (section 2.2). */
export function personFields(origin: Origin): Record<string, AnswerField> {
  return fieldNames(origin, {
    name: 'string',
    headline: 'string',
    description: 'string',
    city: 'string',
    location: 'string',
    country_code: 'string',
    logo_url: 'string',
    image_url: 'string',
    created_at: 'string',
    profnet_uid: 'string',
    profnet_url: 'string',
    profnet_name: 'string',
    follower_size: 'number',
    connection_size: 'number',
    education: 'array',
    honors_and_awards: 'array',
    bio: 'array',
    company: 'object',
    recommendations: 'array',
    similar_profiles: 'array',
    people_also_viewed: 'array',
    recent_activities: 'array',
    employment_history: 'array',
  })
}
