import { asDefaults, type CreateType, type CrmMapping } from '../../domain/mapping/mapping.ts'

const profileUrl = { label: 'Profile URL', type: 'url' } as const

/** A property of ours that is created for a recipe that wants it. */
function ours(property: string, label: string, type: CreateType) {
  return { property, create: { label, type, optional: true } } as const
}

/**
 * The default mapping, right for most accounts. Fields whose meaning differs between the service and HubSpot have properties
 * of ours (`company_type` is the legal form, HubSpot's `type` the kind of relation), and so has what HubSpot has no property
 * for.
 */
export const hubspotMapping: CrmMapping = asDefaults({
  own: { status: 'paydirt_status', enrichedAt: 'paydirt_enriched_at', source: 'paydirt_source' },
  key: 'paydirt_key',
  entities: {
    companies: {
      object: 'company',
      fields: {
        company_name: { property: 'name' },
        profnet_url: { property: 'profnet_url', create: profileUrl },
        domain: { property: 'domain' },
        website: { property: 'website' },
        industry: { property: 'industry' },
        description: { property: 'description' },
        employees: { property: 'numberofemployees' },
        founded_year: { property: 'founded_year' },
        street: { property: 'address' },
        city: { property: 'city' },
        state: { property: 'state' },
        postal_code: { property: 'zip' },
        country_code: { property: 'country', as: 'country_name' },
        tagline: ours('paydirt_tagline', 'Tagline', 'text'),
        employee_range: ours('paydirt_employee_range', 'Employee range', 'text'),
        company_type: ours('paydirt_company_type', 'Legal form', 'text'),
        headquarters: ours('paydirt_headquarters', 'Headquarters', 'text'),
        followers: ours('paydirt_followers', 'Followers', 'number'),
        logo: ours('paydirt_logo', 'Logo', 'url'),
        open_jobs: ours('paydirt_open_jobs', 'Open jobs', 'number'),
        news_items: ours('paydirt_news_items', 'News items', 'number'),
        advertisements: ours('paydirt_advertisements', 'Advertisements', 'number'),
        similar_companies: ours('paydirt_similar_companies', 'Similar companies', 'text'),
        expansion_stage: ours('paydirt_expansion_stage', 'Expansion stage', 'text'),
        expansion_direction: ours('paydirt_expansion_direction', 'Expansion direction', 'text'),
        expansion_markets: ours('paydirt_expansion_markets', 'Expansion markets', 'text'),
        open_jobs_change_30d: ours('paydirt_open_jobs_change_30d', 'Open jobs, change in 30 days', 'number'),
        last_news_at: ours('paydirt_last_news_at', 'Last news at', 'date'),
        last_news_title: ours('paydirt_last_news_title', 'Last news', 'text'),
        advertising: ours('paydirt_advertising', 'Advertising', 'boolean'),
        cloud_providers: ours('paydirt_cloud_providers', 'Cloud providers', 'text'),
        signal_score: ours('paydirt_signal_score', 'Signal score', 'number'),
        signal_score_change_7d: ours(
          'paydirt_signal_score_change_7d',
          'Signal score, change in 7 days',
          'number',
        ),
        signal_reason: ours('paydirt_signal_reason', 'Signal reason', 'text'),
        signals_checked_at: ours('paydirt_signals_checked_at', 'Signals checked at', 'datetime'),
      },
      create: { company_name: { property: 'name' }, domain: { property: 'domain' } },
      identity: {
        profileUrl: ['profnet_url'],
        domain: ['domain', 'website'],
        phone: ['phone'],
        company: ['name'],
      },
    },
    contacts: {
      object: 'person',
      fields: {
        first_name: { property: 'firstname' },
        last_name: { property: 'lastname' },
        email: { property: 'email' },
        email_personal: ours('paydirt_personal_email', 'Personal e-mail', 'email'),
        phone: { property: 'phone' },
        mobile_phone: { property: 'mobilephone' },
        profnet_url: { property: 'profnet_url', create: profileUrl },
        job_title: { property: 'jobtitle' },
        company_name: { property: 'company' },
        city: { property: 'city' },
        country_code: { property: 'country', as: 'country_name' },
        left_company_at: ours('paydirt_left_company_at', 'Left the company at', 'date'),
        former_record: ours('paydirt_former_record', 'Former record', 'text'),
        champion_relationship: ours('paydirt_champion_relationship', 'Champion relationship', 'text'),
      },
      create: {
        first_name: { property: 'firstname' },
        last_name: { property: 'lastname' },
        email: { property: 'email' },
        phone: { property: 'phone' },
      },
      identity: {
        profileUrl: ['profnet_url'],
        email: ['email', 'work_email'],
        phone: ['phone', 'mobilephone'],
        firstName: ['firstname'],
        lastName: ['lastname'],
        company: ['company'],
        domain: ['website'],
      },
    },
  },
})
