import { asDefaults, type CreateType, type CrmMapping } from '../../domain/mapping/mapping.ts'

const profileUrl = { label: 'Profile URL', type: 'url' } as const

/** A field of ours that the package has. An org without it goes without the field. */
function ours(property: string, label: string, type: CreateType) {
  return { property, create: { label, type, optional: true } } as const
}

/** The fields without which a new person could neither be saved nor found again, also where `fields` is told to leave them. */
const nameAndReach = {
  first_name: { property: 'FirstName' },
  last_name: { property: 'LastName' },
  email: { property: 'Email' },
  phone: { property: 'Phone' },
  job_title: { property: 'Title' },
} as const

/** The default mapping, right for most orgs. A value that Salesforce has no field for has one of ours, which the package brings. */
export const salesforceMapping: CrmMapping = asDefaults({
  own: { status: 'Paydirt_Status__c', enrichedAt: 'Paydirt_Enriched_At__c', source: 'Paydirt_Source__c' },
  key: 'Paydirt_Key__c',
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
        street: { property: 'BillingStreet' },
        city: { property: 'BillingCity' },
        state: { property: 'BillingState' },
        postal_code: { property: 'BillingPostalCode' },
        country_code: { property: 'BillingCountry', as: 'country_name' },
        tagline: ours('Paydirt_Tagline__c', 'Tagline', 'text'),
        employee_range: ours('Paydirt_Employee_Range__c', 'Employee Range', 'text'),
        company_type: ours('Paydirt_Legal_Form__c', 'Legal Form', 'text'),
        headquarters: ours('Paydirt_Headquarters__c', 'Headquarters', 'text'),
        followers: ours('Paydirt_Followers__c', 'Followers', 'number'),
        logo: ours('Paydirt_Logo__c', 'Logo', 'url'),
        open_jobs: ours('Paydirt_Open_Jobs__c', 'Open Jobs', 'number'),
        news_items: ours('Paydirt_News_Items__c', 'News Items', 'number'),
        advertisements: ours('Paydirt_Advertisements__c', 'Advertisements', 'number'),
        similar_companies: ours('Paydirt_Similar_Companies__c', 'Similar Companies', 'text'),
        expansion_stage: ours('Paydirt_Expansion_Stage__c', 'Expansion Stage', 'text'),
        expansion_direction: ours('Paydirt_Expansion_Direction__c', 'Expansion Direction', 'text'),
        expansion_markets: ours('Paydirt_Expansion_Markets__c', 'Expansion Markets', 'text'),
        open_jobs_change_30d: ours(
          'Paydirt_Open_Jobs_Change_30d__c',
          'Open Jobs, Change in 30 Days',
          'number',
        ),
        last_news_at: ours('Paydirt_Last_News_At__c', 'Last News At', 'date'),
        last_news_title: ours('Paydirt_Last_News_Title__c', 'Last News', 'text'),
        advertising: ours('Paydirt_Advertising__c', 'Advertising', 'boolean'),
        cloud_providers: ours('Paydirt_Cloud_Providers__c', 'Cloud Providers', 'text'),
        signal_score: ours('Paydirt_Signal_Score__c', 'Signal Score', 'number'),
        signal_score_change_7d: ours(
          'Paydirt_Signal_Score_Change_7d__c',
          'Signal Score, Change in 7 Days',
          'number',
        ),
        signal_reason: ours('Paydirt_Signal_Reason__c', 'Signal Reason', 'text'),
        signals_checked_at: ours('Paydirt_Signals_Checked_At__c', 'Signals Checked At', 'datetime'),
      },
      create: { company_name: { property: 'Name' }, domain: { property: 'Website' } },
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
        first_name: { property: 'FirstName' },
        last_name: { property: 'LastName' },
        email: { property: 'Email' },
        email_personal: ours('Paydirt_Personal_Email__c', 'Personal E-mail', 'email'),
        phone: { property: 'Phone' },
        mobile_phone: { property: 'MobilePhone' },
        profnet_url: { property: 'Profnet_URL__c', create: profileUrl },
        job_title: { property: 'Title' },
        about: { property: 'Description' },
        city: { property: 'MailingCity' },
        country_code: { property: 'MailingCountry', as: 'country_name' },
        left_company_at: ours('Paydirt_Left_Company_At__c', 'Left the Company At', 'date'),
        former_record: ours('Paydirt_Former_Record__c', 'Former Record', 'text'),
        champion_relationship: ours('Paydirt_Champion_Relationship__c', 'Champion Relationship', 'text'),
      },
      create: nameAndReach,
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
        first_name: { property: 'FirstName' },
        last_name: { property: 'LastName' },
        email: { property: 'Email' },
        email_personal: ours('Paydirt_Personal_Email__c', 'Personal E-mail', 'email'),
        phone: { property: 'Phone' },
        mobile_phone: { property: 'MobilePhone' },
        profnet_url: { property: 'Profnet_URL__c', create: profileUrl },
        job_title: { property: 'Title' },
        company_name: { property: 'Company' },
        about: { property: 'Description' },
        city: { property: 'City' },
        country_code: { property: 'Country', as: 'country_name' },
      },
      create: {
        ...nameAndReach,
        company_name: { property: 'Company' },
        company_domain: { property: 'Website' },
        company_website: { property: 'Website' },
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
