import { fieldNames } from './answer-fields.ts'
import { assumed, type Claim, type Family, type RequestField } from './entry.ts'
import {
  companiesByName,
  companyIdentifierNames,
  companyIdentifiers,
  dates,
  filter,
  flag,
  paging,
  text,
  words,
} from './fields.ts'

const total = assumed('data.pagination.total_entries')
const ascending: RequestField = flag('shown 4.4', { default: false })

const search = {
  method: assumed('POST'),
  access: assumed('both'),
  price: assumed('unknown'),
  timeoutMs: 30_000,
} as const

/** The insights of one company: its path is assumed, and it is named by one of nine identifiers. */
function insights(path: string) {
  return {
    ...search,
    path: assumed(path) as Claim<string>,
    request: companyIdentifiers,
    oneOf: companyIdentifierNames,
    timeoutMs: 60_000,
  }
}

/** Jobs, news, advertisements and cloud footprints: what shows where a company moves. */
export const market = {
  'job.search': {
    ...search,
    summary: 'job postings by filters',
    path: assumed('/jobs/search'),
    request: {
      functions: words('job_functions'),
      seniority_ranks: words('seniority_ranks'),
      launch_dates: dates(),
      location_ids: filter(),
      created_at: dates(),
      job_exclude_locations: filter(),
      ...companiesByName,
      is_ascending_order: ascending,
      ...paging,
    },
    answer: {
      at: assumed('data.jobs'),
      rows: { id: assumed('job_search_id'), total },
      fields: {
        functions: { origin: 'shown 4.4', teaches: 'job_functions' },
        seniority_rank: { origin: 'shown 4.4', teaches: 'seniority_ranks' },
        ...fieldNames('shown 4.4', {
          source_type: null,
          base_salary: null,
          experience_requirement: null,
          education_requirement: null,
          employment_type: null,
        }),
      },
    },
  },
  'hiring.insights': {
    ...insights('/jobs/insights'),
    summary: 'hiring of one company',
    answer: { at: assumed('data'), fields: {} },
  },
  'news.search': {
    ...search,
    summary: 'news by filters',
    path: assumed('/news/search'),
    request: {
      published_at: dates(),
      news_search_id: text('shown 4.4', { isFilter: true }),
      ...companiesByName,
      is_expansion_signal_available: flag('shown 4.4', { default: false }),
      is_ascending_order: ascending,
      ...paging,
    },
    answer: {
      at: assumed('data.news'),
      rows: { id: assumed('news_search_id'), total },
      fields: fieldNames('shown 4.4', { expansion_signals: 'array' }),
    },
  },
  'news.insights': {
    ...insights('/news/insights'),
    summary: 'news of one company, counted',
    answer: {
      at: assumed('data'),
      fields: {
        totals: { origin: 'shown 4.4', is: 'object' },
        ...fieldNames('shown 4.4', {
          'totals.mentions': 'number',
          'totals.topics': 'number',
          'totals.sources': 'number',
          'totals.top_source': null,
          category_breakdown: null,
          market_breakdown: null,
        }),
      },
    },
  },
  'advertisement.search': {
    ...search,
    summary: 'advertisements by filters',
    path: assumed('/advertisements/search'),
    request: {
      active_dates: dates(),
      reach_tiers: words('reach_tiers'),
      source_types: filter('shown 4.4', { vocabulary: 'source_types' }),
      exclude_source_types: filter('shown 4.4', { vocabulary: 'source_types' }),
      created_at: dates(),
      advertisement_search_id: text('shown 4.4', { isFilter: true }),
      advertisement_target_locations: filter(),
      advertisement_exclude_target_locations: filter(),
      ...companiesByName,
      is_ascending_order: ascending,
      ...paging,
    },
    answer: {
      at: assumed('data.advertisements'),
      rows: { id: assumed('advertisement_search_id'), total },
      fields: {
        source_type: { origin: 'assumed', teaches: 'source_types' },
        reach_tier: { origin: 'assumed', teaches: 'reach_tiers' },
        ...fieldNames('shown 4.4', {
          advertisement_format_normalized: null,
          advertiser: null,
          advertisement_url: 'string',
          is_company_matched: 'boolean',
          total_impressions: null,
        }),
      },
    },
  },
  'advertisement.insights': {
    ...insights('/advertisements/insights'),
    summary: 'advertisements of one company, counted',
    answer: {
      at: assumed('data'),
      fields: {
        ...fieldNames('shown 4.4', { postings: 'array', reach_tiers: 'array', creatives: 'array' }),
        ...fieldNames('shown 4.4', {
          'postings[].r': null,
          'postings[].m': null,
          'postings[].ch': null,
          'postings[].fo': null,
          'postings[].n': null,
          'reach_tiers[].label': 'string',
          'creatives[].image_url': 'string',
          'creatives[].cta': null,
          'creatives[].has_video': 'boolean',
        }),
        'reach_tiers[].slug': { origin: 'shown 4.4', is: 'string', teaches: 'reach_tiers' },
      },
    },
  },
  'cloud.search': {
    ...search,
    summary: 'cloud footprints by filters',
    path: assumed('/clouds/search'),
    request: {
      ...companiesByName,
      countries: filter('assumed'),
      providers: filter('assumed'),
      regions: filter('assumed'),
      ...paging,
    },
    answer: { at: assumed('data.clouds'), rows: { id: assumed('cloud_search_id'), total }, fields: {} },
  },
  'cloud.insights': {
    ...insights('/clouds/insights'),
    summary: 'cloud footprint of one company',
    answer: { at: assumed('data'), fields: {} },
  },
} satisfies Family
