import { fieldNames } from './answer-fields.ts'
import { assumed, shown, type Family } from './entry.ts'
import {
  companiesByName,
  companyIdentifierNames,
  companyIdentifiers,
  filter,
  paging,
  text,
} from './fields.ts'
import { companyFields } from './records.ts'

const credit = '0.010000'

export const companies = {
  'company.profile': {
    summary: 'a company by the URL of its profile',
    method: shown('4.1', 'POST'),
    path: shown('4.1', '/companies/profnet/lookup'),
    access: assumed('both'),
    price: shown('4.1', credit),
    request: { profnet_url: text('shown 4.1', { fold: 'url', isRequired: true }) },
    answer: { at: shown('4.1', 'data'), fields: companyFields('shown 2.1') },
    timeoutMs: 30_000,
  },
  'company.logo': {
    summary: 'the logo of a company by its domain',
    method: shown('4.3', 'GET'),
    path: shown('4.3', '{logo_url}/{domain}'),
    access: shown('4.3', 'both'),
    price: shown('4.3', 'free'),
    request: { domain: text('shown 4.3', { fold: 'domain', isRequired: true }) },
    answer: { at: shown('4.3', ''), fields: {} },
    timeoutMs: 15_000,
  },
  'company.lookup': {
    summary: 'a company by one of nine identifiers',
    method: assumed('POST'),
    path: assumed('/companies/lookup'),
    access: assumed('both'),
    price: assumed(credit),
    request: companyIdentifiers,
    oneOf: companyIdentifierNames,
    answer: { at: assumed('data'), fields: companyFields('assumed') },
    timeoutMs: 30_000,
  },
  'company.enrich': {
    summary: 'a company with its jobs, news, advertisements and similar companies, in 30 to 60 seconds',
    method: assumed('POST'),
    path: assumed('/companies/lookup/enrich'),
    access: assumed('both'),
    price: assumed('unknown'),
    request: companyIdentifiers,
    oneOf: companyIdentifierNames,
    answer: {
      at: assumed('data'),
      fields: {
        ...companyFields('assumed'),
        jobs: { origin: 'shown 4.4', is: 'array' },
        news: { origin: 'shown 4.4', is: 'array' },
        advertisements: { origin: 'shown 4.4', is: 'array' },
        similar_companies: { origin: 'shown 4.4', is: 'array' },
      },
    },
    timeoutMs: 90_000,
  },
  'company.search': {
    summary: 'companies by filters',
    method: assumed('POST'),
    path: assumed('/companies/search'),
    access: assumed('both'),
    price: assumed('unknown'),
    request: {
      ...companiesByName,
      countries: filter('assumed'),
      company_exclude_locations: filter('assumed'),
      industries: filter('assumed'),
      sizes: filter('assumed'),
      social_media: filter('shown 4.4', { vocabulary: 'social_media' }),
      advertisement_status: filter('shown 4.4', { vocabulary: 'advertisement_status' }),
      ...paging,
    },
    answer: {
      at: assumed('data.companies'),
      rows: { id: assumed('domain_search_id'), total: assumed('data.pagination.total_entries') },
      fields: fieldNames('assumed', { company_name: 'string', domain: 'string', profnet_url: 'string' }),
    },
    timeoutMs: 30_000,
  },
  'company.similar': {
    summary: 'companies like one that the request names',
    method: shown('4.4', 'POST'),
    path: shown('4.4', '/companies/search/similar'),
    access: assumed('both'),
    price: assumed('unknown'),
    request: {
      ...companyIdentifiers,
      countries: filter('assumed'),
      company_exclude_locations: filter('assumed'),
      industries: filter('assumed'),
      sizes: filter('assumed'),
      ...paging,
    },
    oneOf: companyIdentifierNames,
    answer: {
      at: assumed('data.companies'),
      rows: { id: assumed('domain_search_id'), total: assumed('data.pagination.total_entries') },
      fields: fieldNames('assumed', { company_name: 'string', domain: 'string', profnet_url: 'string' }),
    },
    timeoutMs: 30_000,
  },
} satisfies Family
