import type { CrmMapping } from './mapping.ts'

const profileUrl = { label: 'Profile URL', type: 'url' } as const

/**
 * What is right for most accounts. Fields whose meaning differs between the service and the CRM are left out
 * (`company_type` is the legal form, HubSpot's `type` the kind of relation), and so is whatever would need a property
 * of our own besides the profile's URL.
 */
export const hubspotMapping: CrmMapping = {
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
}

export const salesforceMapping: CrmMapping = {
  own: { status: 'Paydirt_Status__c', enrichedAt: 'Paydirt_Enriched_At__c', source: 'Paydirt_Source__c' },
  entities: {
    Account: {
      object: 'company',
      fields: {
        company_name: { property: 'Name' },
        profnet_url: { property: 'Profnet_URL__c', create: profileUrl },
        website: { property: 'Website' },
        industry: { property: 'Industry' },
        description: { property: 'Description' },
        employees: { property: 'NumberOfEmployees' },
        founded_year: { property: 'YearStarted' },
        address: { property: 'BillingStreet' },
        country_code: { property: 'BillingCountry', as: 'country_name' },
      },
      identity: {
        profileUrl: ['Profnet_URL__c'],
        domain: ['Website'],
        phone: ['Phone'],
        company: ['Name'],
      },
    },
    Contact: {
      object: 'person',
      fields: {
        profnet_url: { property: 'Profnet_URL__c', create: profileUrl },
        job_title: { property: 'Title' },
        about: { property: 'Description' },
        city: { property: 'MailingCity' },
        country_code: { property: 'MailingCountry', as: 'country_name' },
      },
      identity: {
        profileUrl: ['Profnet_URL__c'],
        email: ['Email'],
        phone: ['Phone', 'MobilePhone'],
        firstName: ['FirstName'],
        lastName: ['LastName'],
        company: ['Account.Name'],
        domain: ['Account.Website'],
      },
    },
    Lead: {
      object: 'person',
      fields: {
        profnet_url: { property: 'Profnet_URL__c', create: profileUrl },
        job_title: { property: 'Title' },
        company_name: { property: 'Company' },
        about: { property: 'Description' },
        city: { property: 'City' },
        country_code: { property: 'Country', as: 'country_name' },
      },
      identity: {
        profileUrl: ['Profnet_URL__c'],
        email: ['Email'],
        phone: ['Phone', 'MobilePhone'],
        firstName: ['FirstName'],
        lastName: ['LastName'],
        company: ['Company'],
        domain: ['Website'],
      },
    },
  },
}
