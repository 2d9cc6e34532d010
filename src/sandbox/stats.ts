import type { ActionName } from './faults/action-faults.ts'

type Endpoint = 'companies' | 'people' | 'logo'
/** Operations of a workspace: they need an API key and cost nothing. */
export type DirectOperation =
  | ActionName
  | 'monitor_list'
  | 'monitor_read'
  | 'monitor_statistics'
  | 'monitor_charts'
  | 'monitor_logs'
  | 'monitor_interpret'
  | 'template_types'
/** Searches and reads of the world. */
type WorldEndpoint =
  | 'people_lookup'
  | 'people_similar'
  | 'companies_search'
  | 'companies_similar'
  | 'jobs_search'
  | 'jobs_insights'
  | 'news_search'
  | 'news_insights'
  | 'advertisements_search'
  | 'advertisements_insights'
  | 'clouds_search'
  | 'clouds_insights'
  | 'expansions_search'
  | 'expansions_lookup'
  | 'expansions_signals'
  | 'expansions_detail'
  | 'expansions_compare'
  | 'expansions_summary'
  | 'expansions_rankings'
/** Counted from their first request on. */
export type OtherEndpoint =
  | 'contacts'
  | 'contacts_batch'
  | 'redemptions'
  | 'redemptions_batch'
  | 'redemptions_query'
  | 'people_search'
  | 'companies_lookup'
  | 'companies_enrich'
  | WorldEndpoint
  /** Paths that nothing serves. */
  | 'elsewhere'
  | 'profile'
  | 'usage'
  | DirectOperation
export type StatsEndpoint = Endpoint | OtherEndpoint

/** The sandbox's counts since it started. */
export interface Stats {
  /** Requests to the service, without the control routes. */
  requests: number
  byEndpoint: Record<Endpoint, number> & Partial<Record<OtherEndpoint, number>>
  byStatus: Record<string, number>
  /** Connections that were cut instead of answered. */
  dropped: number
  challenged: number
  rateLimited: number
  /** Lookups that were answered with 200. */
  answered: number
  /** Those of them that were repeated for a payment identifier without another settlement. */
  repeated: number
  /** Payments that moved money, independent of what the client was told. */
  settled: number
  /** Payments that were announced as pending and have no result yet; their money moves later. */
  pending: number
  /** Distinct companies, people and contacts asked for, in any spelling. */
  distinctKeys: number
  /** The number of them that were paid for, and that were paid for more than once. */
  keysPaid: number
  keysPaidTwice: number
}

export interface StatsCounter {
  request(endpoint: StatsEndpoint): void
  status(status: number): void
  dropped(): void
  challenged(): void
  rateLimited(): void
  answered(repeated: boolean): void
  asked(key: string): void
  payment(keys: readonly string[], transaction: string, state: 'settled' | 'pending'): void
  read(): Stats
}

export function createStatsBook(): StatsCounter {
  const counts = { requests: 0, dropped: 0, challenged: 0, rateLimited: 0, answered: 0, repeated: 0 }
  const byEndpoint: Stats['byEndpoint'] = { companies: 0, people: 0, logo: 0 }
  const byStatus: Record<string, number> = {}
  const keys = new Set<string>()
  const payments = new Map<string, { keys: readonly string[]; state: 'settled' | 'pending' }>()

  function paidKeys() {
    const times = new Map<string, number>()
    for (const { keys } of payments.values()) {
      for (const key of keys) times.set(key, (times.get(key) ?? 0) + 1)
    }
    return [...times.values()]
  }

  function count(state: 'settled' | 'pending') {
    return [...payments.values()].filter((payment) => payment.state === state).length
  }

  return {
    request(endpoint) {
      counts.requests += 1
      byEndpoint[endpoint] = (byEndpoint[endpoint] ?? 0) + 1
    },
    status(status) {
      byStatus[status] = (byStatus[status] ?? 0) + 1
    },
    dropped: () => void (counts.dropped += 1),
    challenged: () => void (counts.challenged += 1),
    rateLimited: () => void (counts.rateLimited += 1),
    answered(repeated) {
      counts.answered += 1
      if (repeated) counts.repeated += 1
    },
    asked: (key) => void keys.add(key),
    payment: (keys, transaction, state) => void payments.set(transaction, { keys, state }),
    read: () => ({
      ...counts,
      byEndpoint: { ...byEndpoint },
      byStatus: { ...byStatus },
      distinctKeys: keys.size,
      settled: count('settled'),
      pending: count('pending'),
      keysPaid: paidKeys().length,
      keysPaidTwice: paidKeys().filter((times) => times > 1).length,
    }),
  }
}
