/** The words of `status` (service.md, 3). Which may follow which is not shown, so each may follow each. */
export const statuses = ['draft', 'active', 'paused', 'inactive'] as const
export const detectionModes = ['signal_first', 'company_first'] as const

/** One for each source of signals, and `expansions`, the only word that is known (service.md, 4.4). */
export const signalTypes = ['expansions', 'jobs', 'news', 'advertisements', 'clouds', 'events'] as const

/** The filters of the searches (service.md, 4.4), each a list of texts. */
export const filterNames = [
  'stages',
  'signal_types',
  'signal_strengths',
  'freshness',
  'momentum',
  'polarity',
  'froms',
  'tos',
  'functions',
  'seniority_ranks',
  'location_ids',
  'source_types',
  'reach_tiers',
] as const

export interface MonitorFields {
  name: string
  status: (typeof statuses)[number]
  detection_mode: (typeof detectionModes)[number]
  signal_types: string[]
  filters: Record<string, string[]>
  /** Accounts that are tracked. Empty for a monitor of the whole market. */
  domain_search_ids: string[]
  webhook_url: string | null
  /** Sent with each delivery, because the receiver has nothing else to know the service by. */
  webhook_headers: Record<string, string>
}

export interface Monitor extends MonitorFields {
  monitor_id: string
  created_at: string
  updated_at: string
}

export const fieldNames = [
  'name',
  'status',
  'detection_mode',
  'signal_types',
  'filters',
  'domain_search_ids',
  'webhook_url',
  'webhook_headers',
] as const satisfies (keyof MonitorFields)[]
