import { fieldNames } from './answer-fields.ts'
import { assumed, shown, type Family, type RequestField } from './entry.ts'
import { companiesByName, filter, flag, paging, text, texts, words } from './fields.ts'
import { personFields } from './records.ts'

const personFilters: Readonly<Record<string, RequestField>> = {
  people_locations: filter(),
  person_locations: filter('shown 4.4', { aliasOf: 'people_locations' }),
  people_titles: filter(),
  departments: words('departments'),
  department_functions: words('department_functions'),
  management_levels: words('management_levels'),
  people_contact_types: filter('shown 4.4', { vocabulary: 'people_contact_types' }),
  exclude_people_titles: filter(),
  exclude_people_locations: filter(),
  exclude_departments: words('departments'),
  exclude_department_functions: words('department_functions'),
  company_exclude_locations: filter(),
  ...companiesByName,
}

const personRow = {
  ...fieldNames('assumed', {
    name: 'string',
    title: 'string',
    profnet_url: 'string',
    company_name: 'string',
  }),
  department: { origin: 'assumed', is: 'string', teaches: 'departments' },
  department_function: { origin: 'assumed', is: 'string', teaches: 'department_functions' },
  management_level: { origin: 'assumed', is: 'string', teaches: 'management_levels' },
} as const

const rows = { id: assumed('people_search_id'), total: assumed('data.pagination.total_entries') }

const contactKeys: Readonly<Record<string, RequestField>> = {
  email: text('shown 4.4'),
  phone: text('shown 4.4'),
  first_name: text('shown 4.4'),
  last_name: text('shown 4.4'),
  domain: text('shown 4.4', { fold: 'domain' }),
  company: text('shown 4.4'),
  is_enable_similarity_search: flag('shown 4.4', { default: false }),
}

export const people = {
  'person.profile': {
    summary: 'a person by the URL of the profile',
    method: shown('4.2', 'POST'),
    path: shown('4.2', '/people/profnet/lookup'),
    access: assumed('both'),
    price: shown('4.2', '0.010000'),
    request: { profnet_url: text('shown 4.2', { fold: 'url', isRequired: true }) },
    answer: { at: shown('4.2', 'data'), fields: personFields('shown 2.2') },
    timeoutMs: 30_000,
  },
  'person.lookup': {
    summary: 'a person by profile, e-mail, phone or id; enriched on demand',
    method: assumed('POST'),
    path: assumed('/people/lookup'),
    access: assumed('both'),
    price: assumed('unknown'),
    request: {
      profnet_url: text('assumed', { fold: 'url' }),
      people_search_id: text('assumed'),
      email: text('assumed'),
      phone: text('assumed'),
      is_enrichment_available: flag('shown 4.4', { default: false }),
    },
    oneOf: ['profnet_url', 'people_search_id', 'email', 'phone'],
    answer: { at: assumed('data'), fields: personFields('assumed') },
    timeoutMs: 60_000,
    pricedBy: ['is_enrichment_available'],
  },
  'contact.lookup': {
    summary: 'a person by e-mail, phone, or name with domain or company',
    method: assumed('POST'),
    path: assumed('/redeem/people/contact/lookup'),
    access: assumed('both'),
    price: assumed('0.010000'),
    request: contactKeys,
    answer: {
      at: assumed('data.peoples'),
      fields: {
        match: { origin: 'shown 4.4', is: 'object' },
        'match.input_index': { origin: 'shown 4.4', is: 'number' },
        is_duplicate_input: { origin: 'shown 4.4', is: 'boolean' },
        ...fieldNames('assumed', { people_search_id: 'string', name: 'string', profnet_url: 'string' }),
      },
    },
    timeoutMs: 30_000,
    more: { batch: assumed('/redeem/people/contact/lookup/batch') },
    batchRequest: { peoples: { is: 'objects', origin: 'shown 4.4' } },
  },
  'contact.redeem': {
    summary: 'the e-mails and phones of a person, by type',
    method: assumed('POST'),
    path: assumed('/redeem/people'),
    access: assumed('both'),
    price: assumed('unknown'),
    request: {
      people_search_id: text('assumed'),
      profnet_url: text('assumed', { fold: 'url' }),
      people_contact_types: texts('shown 4.4', { vocabulary: 'people_contact_types', isRequired: true }),
    },
    oneOf: ['people_search_id', 'profnet_url'],
    answer: {
      at: assumed('data.peoples'),
      fields: fieldNames('shown 4.4', { emails: 'array', phones: 'array' }),
    },
    timeoutMs: 60_000,
    pricedBy: ['people_contact_types'],
    more: { batch: assumed('/redeem/people/batch'), batchQuery: assumed('/redeem/people/batch/query') },
  },
  'people.search': {
    summary: 'people by filters',
    method: assumed('POST'),
    path: assumed('/people/search'),
    access: assumed('both'),
    price: assumed('unknown'),
    request: { ...personFilters, ...paging },
    answer: { at: assumed('data.peoples'), rows, fields: personRow },
    timeoutMs: 30_000,
  },
  'people.similar': {
    summary: 'people like one that the request names',
    method: assumed('POST'),
    path: assumed('/people/search/similar'),
    access: assumed('both'),
    price: assumed('unknown'),
    request: {
      profnet_url: text('assumed', { fold: 'url' }),
      people_search_id: text('assumed'),
      ...personFilters,
      // The description says of this search that it narrows.
      domains: filter('shown 4.4', { fold: 'domain' }),
      ...paging,
    },
    oneOf: ['profnet_url', 'people_search_id', 'people_titles'],
    answer: {
      at: assumed('data.peoples'),
      rows,
      fields: { ...personRow, similarity_score: { origin: 'shown 4.4', is: 'number' } },
    },
    timeoutMs: 30_000,
  },
} satisfies Family
