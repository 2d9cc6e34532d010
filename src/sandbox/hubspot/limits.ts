import type { RatePolicy } from './errors.ts'

export interface HubspotLimits {
  /** Requests per token in any ten seconds: 100 for free and starter, 190 for professional and enterprise. */
  readonly perTenSeconds: number
  /** Requests per account and day. */
  readonly perDay: number
  /** Search requests per account and second, with any token. */
  readonly searchPerSecond: number
}

export const REAL_LIMITS: HubspotLimits = { perTenSeconds: 190, perDay: 650_000, searchPerSecond: 5 }

export interface Limiter {
  /** Counts the request, or returns the policy it breaks. A refused request is not counted. */
  admit(token: string, isSearch: boolean): RatePolicy | undefined
  /** Returns the headers of a response. Search responses carry none; only private apps get daily headers. */
  headers(token: string, options: { isSearch: boolean; isOauth: boolean }): Record<string, string>
  usedToday(): number
  setUsedToday(calls: number): void
}

export function createLimiter(limits: HubspotLimits, now: () => number): Limiter {
  const windows = new Map<string, number[]>()
  let searches: number[] = []
  let day = -1
  let today = 0

  const rollDay = (): void => {
    const current = Math.floor(now() / 86_400_000)
    if (current !== day) {
      day = current
      today = 0
    }
  }
  const recent = (token: string): number[] => {
    const kept = (windows.get(token) ?? []).filter((at) => at > now() - 10_000)
    windows.set(token, kept)
    return kept
  }

  return {
    admit(token, isSearch) {
      rollDay()
      if (today >= limits.perDay) return 'DAILY'
      if (isSearch) {
        searches = searches.filter((at) => at > now() - 1000)
        if (searches.length >= limits.searchPerSecond) return 'SECONDLY'
        searches.push(now())
      } else {
        const window = recent(token)
        if (window.length >= limits.perTenSeconds) return 'TEN_SECONDLY_ROLLING'
        window.push(now())
      }
      today += 1
      return undefined
    },
    headers(token, { isSearch, isOauth }) {
      if (isSearch) return {}
      rollDay()
      return {
        ...(isOauth
          ? {}
          : {
              'X-HubSpot-RateLimit-Daily': String(limits.perDay),
              'X-HubSpot-RateLimit-Daily-Remaining': String(Math.max(0, limits.perDay - today)),
            }),
        'X-HubSpot-RateLimit-Interval-Milliseconds': '10000',
        'X-HubSpot-RateLimit-Max': String(limits.perTenSeconds),
        'X-HubSpot-RateLimit-Remaining': String(Math.max(0, limits.perTenSeconds - recent(token).length)),
      }
    },
    usedToday() {
      rollDay()
      return today
    },
    setUsedToday(calls) {
      rollDay()
      today = calls
    },
  }
}
