/** The kinds of values a field may hold. `label` is a text of one line or few, `text` one of any length. */
export type ValueKind =
  | 'label'
  | 'text'
  | 'url'
  | 'company_profile'
  | 'person_profile'
  | 'domain'
  | 'email'
  | 'phone'
  | 'country'
  | 'year'
  | 'count'
  /** A whole number that may be negative. */
  | 'change'
  /** A number that may have decimals and be negative. */
  | 'score'
  /** A day, `2026-11-23`. */
  | 'date'
  /** A point in time, in UTC. */
  | 'datetime'
  /** Yes or no. */
  | 'flag'

/** The canonical fields that are more than a label. */
const kinds: Readonly<Record<string, ValueKind>> = {
  website: 'url',
  logo: 'url',
  company_website: 'url',
  company_logo: 'url',
  company_profnet_url: 'company_profile',
  domain: 'domain',
  company_domain: 'domain',
  email: 'email',
  email_personal: 'email',
  phone: 'phone',
  mobile_phone: 'phone',
  country_code: 'country',
  company_country_code: 'country',
  founded_year: 'year',
  employees: 'count',
  company_employees: 'count',
  followers: 'count',
  connections: 'count',
  open_jobs: 'count',
  news_items: 'count',
  advertisements: 'count',
  description: 'text',
  about: 'text',
  similar_companies: 'text',
  expansion_markets: 'text',
  open_jobs_change_30d: 'change',
  last_news_at: 'date',
  last_news_title: 'text',
  advertising: 'flag',
  cloud_providers: 'text',
  signal_score: 'score',
  signal_score_change_7d: 'score',
  signal_reason: 'text',
  signals_checked_at: 'datetime',
  left_company_at: 'date',
}

/** Returns the kind of a canonical field of an object. */
export function kindOf(object: 'company' | 'person', field: string): ValueKind {
  if (field === 'profnet_url') return `${object}_profile`
  return Object.hasOwn(kinds, field) ? (kinds[field] as ValueKind) : 'label'
}

/** Returns whether a value of the kind may be shortened to fit its place. Half an address or number is a wrong one. */
export function mayBeCut(kind: ValueKind): boolean {
  return kind === 'label' || kind === 'text'
}
