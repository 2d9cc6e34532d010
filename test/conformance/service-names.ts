import type { Operation } from '../../src/domain/words.ts'

/** The numbers of the description's sections. A fact that is shown names one of them. */
export const sections = [
  '1',
  '2',
  '2.1',
  '2.2',
  '2.3',
  '3',
  '4',
  '4.1',
  '4.2',
  '4.3',
  '4.4',
  '5',
  '6',
  '7',
  '8',
  '9',
]

interface NamedEndpoint {
  /** As the description names it. */
  endpoint: string
  operations: readonly Operation[]
  /** Method and path, where the description has them. */
  path?: string
  request?: readonly string[]
  answer?: readonly string[]
  /** Fields that it does not return. */
  without?: readonly string[]
  words?: Readonly<Record<string, readonly string[]>>
}

const expansionFilters = ['stages', 'signal_types', 'signal_strengths', 'freshness', 'momentum', 'polarity']
const networks = [
  'tiktok_url',
  'wantedly_url',
  'tw104_url',
  'rocketpunch_url',
  'remember_url',
  'youtrust_url',
]

/** Every endpoint, filter and field that section 4.4 names, copied from it by hand. */
export const namesOf44: readonly NamedEndpoint[] = [
  {
    endpoint: 'POST /expansions/signals/search',
    operations: ['expansion.signals'],
    path: 'POST /expansions/signals/search',
    request: expansionFilters,
    without: ['occurs_at', 'occurs_until'],
  },
  {
    endpoint: 'POST /expansions/lookup',
    operations: ['expansion.lookup'],
    path: 'POST /expansions/lookup',
    request: expansionFilters,
  },
  {
    endpoint: 'Expansion Search',
    operations: ['expansion.search'],
    request: ['query', 'is_explain_match', 'sort_by', 'froms', 'tos', ...expansionFilters],
    words: { expansion_orders: ['recent'] },
  },
  {
    endpoint: 'Company Expansion Detail, Compare, Summaries, Rankings',
    operations: ['expansion.detail', 'expansion.compare', 'expansion.summary', 'expansion.rankings'],
    request: ['is_include_metadata'],
    answer: ['confidence_score'],
  },
  { endpoint: 'Rankings', operations: ['expansion.rankings'], request: ['domain_search_ids'] },
  {
    endpoint: 'POST /companies/search/similar',
    operations: ['company.similar'],
    path: 'POST /companies/search/similar',
  },
  {
    endpoint: 'Similar People search',
    operations: ['people.similar'],
    request: ['per_page', 'people_locations', 'domains'],
    answer: ['similarity_score'],
  },
  {
    endpoint: 'People Search',
    operations: ['people.search'],
    request: [
      'people_locations',
      'person_locations',
      'people_titles',
      'departments',
      'department_functions',
      'management_levels',
      'people_contact_types',
      'exclude_people_titles',
      'exclude_people_locations',
      'exclude_departments',
      'exclude_department_functions',
      'company_exclude_locations',
    ],
    words: { people_contact_types: ['email-work', 'email-personal', 'phone'] },
  },
  {
    endpoint: 'Job Search',
    operations: ['job.search'],
    request: [
      'functions',
      'seniority_ranks',
      'launch_dates',
      'location_ids',
      'created_at',
      'is_ascending_order',
      'job_exclude_locations',
    ],
    answer: [
      'functions',
      'seniority_rank',
      'source_type',
      'base_salary',
      'experience_requirement',
      'education_requirement',
      'employment_type',
    ],
  },
  {
    endpoint: 'News Search',
    operations: ['news.search'],
    request: ['published_at', 'news_search_id', 'is_ascending_order', 'is_expansion_signal_available'],
    answer: ['expansion_signals'],
  },
  {
    endpoint: 'Advertisement Search',
    operations: ['advertisement.search'],
    request: [
      'active_dates',
      'reach_tiers',
      'source_types',
      'exclude_source_types',
      'created_at',
      'advertisement_search_id',
      'is_ascending_order',
      'advertisement_target_locations',
      'advertisement_exclude_target_locations',
    ],
    answer: [
      'advertisement_format_normalized',
      'advertiser',
      'advertisement_url',
      'is_company_matched',
      'total_impressions',
    ],
    words: { source_types: ['tiktok', 'apple'] },
  },
  {
    endpoint: 'Company Search',
    operations: ['company.search'],
    request: ['social_media', 'advertisement_status'],
  },
  {
    endpoint: 'Company identification endpoints',
    operations: ['company.lookup', 'company.enrich', 'company.similar'],
    request: networks,
  },
  {
    endpoint: 'Company Enrichment',
    operations: ['company.enrich'],
    answer: ['jobs', 'news', 'advertisements', 'similar_companies'],
  },
  {
    endpoint: 'Contact Lookup (single and bulk)',
    operations: ['contact.lookup'],
    request: [
      'email',
      'phone',
      'first_name',
      'last_name',
      'domain',
      'company',
      'peoples',
      'is_enable_similarity_search',
    ],
    answer: ['is_duplicate_input', 'match.input_index'],
  },
  { endpoint: 'People Lookup', operations: ['person.lookup'], request: ['is_enrichment_available'] },
  {
    endpoint: 'News Insights',
    operations: ['news.insights'],
    answer: [
      'totals',
      'totals.mentions',
      'totals.topics',
      'totals.sources',
      'totals.top_source',
      'category_breakdown',
      'market_breakdown',
    ],
  },
  {
    endpoint: 'Advertisement Insights',
    operations: ['advertisement.insights'],
    answer: [
      'postings',
      'postings[].r',
      'postings[].m',
      'postings[].ch',
      'postings[].fo',
      'postings[].n',
      'reach_tiers',
      'reach_tiers[].slug',
      'reach_tiers[].label',
      'creatives',
      'creatives[].image_url',
      'creatives[].cta',
      'creatives[].has_video',
    ],
  },
  { endpoint: 'Hiring and cloud insights', operations: ['hiring.insights', 'cloud.insights'] },
  { endpoint: 'Cloud footprint search', operations: ['cloud.search'] },
  {
    endpoint: 'Channel Templates: types',
    operations: ['template.types'],
    answer: ['channel_node_id', 'channel_type_slug'],
  },
  {
    endpoint: 'Channel Templates: create',
    operations: ['template.create'],
    request: ['channel_node_id', 'channel_type_slug', 'parameters'],
  },
  {
    endpoint: 'Channel Templates: delete',
    operations: ['template.delete'],
    request: ['channel_template_id'],
  },
  {
    endpoint: 'Monitors',
    operations: [
      'monitor.read',
      'monitor.delete',
      'monitor.statistics',
      'monitor.charts',
      'monitor.logs',
      'monitor.validate',
      'monitor.test',
      'monitor.interpret',
    ],
  },
  {
    endpoint: 'Monitors: create',
    operations: ['monitor.create'],
    request: ['signal_types', 'status', 'detection_mode'],
    words: {
      monitor_signal_types: ['expansions'],
      monitor_status: ['draft', 'active', 'paused', 'inactive'],
    },
  },
  { endpoint: 'Monitors: update', operations: ['monitor.update'], request: ['signal_types', 'status'] },
  {
    endpoint: 'Profile',
    operations: ['account.profile'],
    answer: ['credit', 'max_search_per_page', 'max_search_page', 'total_max_*'],
  },
  { endpoint: 'Profile Usage', operations: ['account.usage'], answer: ['credit'] },
  {
    endpoint: 'Redemption',
    operations: ['contact.redeem'],
    request: ['people_contact_types'],
    answer: ['emails', 'phones'],
  },
]
