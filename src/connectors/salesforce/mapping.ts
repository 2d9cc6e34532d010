import { asDefaults, type CrmMapping } from '../../domain/mapping/mapping.ts'

const profileUrl = { label: 'Profile URL', type: 'url' } as const

/** The default mapping, right for most orgs. It leaves out what would need a field of our own besides the profile's URL. */
export const salesforceMapping: CrmMapping = asDefaults({
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
})
