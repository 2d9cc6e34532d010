import { asDefaults, type CrmMapping } from '../../domain/mapping/mapping.ts'

const profileUrl = { label: 'Profile URL', type: 'url' } as const

/**
 * The default mapping, right for most accounts. It leaves out fields whose meaning differs between the service and HubSpot
 * (`company_type` is the legal form, HubSpot's `type` the kind of relation), and fields that would need a property of our
 * own besides the profile's URL.
 */
export const hubspotMapping: CrmMapping = asDefaults({
  own: { status: 'paydirt_status', enrichedAt: 'paydirt_enriched_at', source: 'paydirt_source' },
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
        address: { property: 'address' },
        country_code: { property: 'country', as: 'country_name' },
      },
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
        profnet_url: { property: 'profnet_url', create: profileUrl },
        job_title: { property: 'jobtitle' },
        company_name: { property: 'company' },
        city: { property: 'city' },
        country_code: { property: 'country', as: 'country_name' },
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
