import { createHash } from 'node:crypto'
import type { CallBudget, CallLimit } from '../../../domain/ports/call-budget.ts'
import type { SendHubspot } from './http.ts'
import type { HubspotAuth, Tokens } from './tokens.ts'
import { accountSchema, paths, usageSchema } from './wire.ts'

/** The limits of an account. The daily limit is read from the account; where that fails, only HubSpot itself counts. */
export interface HubspotLimits {
  /** Calls in ten seconds: 100 for free and starter accounts, 190 for others. HubSpot's headers correct it. */
  perTenSeconds?: number | undefined
  searchPerSecond?: number | undefined
  perDay?: number | undefined
}

export interface HubspotAccount {
  /** Takes a call from the shared budget; `limit` names the limit to wait for. */
  take(kind: 'general' | 'search', signal?: AbortSignal): Promise<{ waitMs: number; limit?: LimitName }>
  close(limit: LimitName, forMs: number): Promise<void>
  /**
   * Called when HubSpot reports that the daily limit is spent. Closes it for every process, and returns for how long.
   */
  dayIsSpent(): Promise<number>
  /** Reads the limit headers of an answer. */
  observe(headers: Headers): void
  usage(): { used: number; limit: number; resetsAtMs: number } | undefined
}

type LimitName = 'ten_seconds' | 'search' | 'day'

const dayMs = 86_400_000
/** Calls may be delayed on their way, and then arrive closer together than they were sent. */
const jitterMs = 100
/** Our clock and the CRM's may differ: just after our midnight it may still be yesterday there. */
const midnightSlackMs = 30_000
/** When HubSpot reports a spent day this soon after midnight, our midnight is wrong: ask again soon. */
const wrongMidnightMs = 15 * 60_000

export function createHubspotAccount(options: {
  auth: HubspotAuth
  tokens: Tokens
  send: SendHubspot
  budget: CallBudget
  limits: HubspotLimits
  timeoutMs: number
  now: () => number
}): HubspotAccount {
  const { auth, tokens, send, budget, limits, timeoutMs, now } = options
  let perTenSeconds = limits.perTenSeconds ?? 100
  let timeZone: string | undefined
  let resetsAtMs: number | undefined
  let perDay = limits.perDay
  let used: number | undefined
  let unreported = 0
  let key: string | undefined
  let finding: Promise<void> | undefined

  const dayEndsAtMs = (): number => {
    if (resetsAtMs !== undefined) {
      if (resetsAtMs <= now()) {
        resetsAtMs += Math.ceil((now() - resetsAtMs + 1) / dayMs) * dayMs
        used = 0
      }
      return resetsAtMs
    }
    return nextMidnight(now(), timeZone ?? 'UTC')
  }

  /**
   * Finds the account's id, the name under which all its processes and tokens share a budget. Asked once, outside the
   * budget. Where the token may not ask, a hash of the token (or of the client id) is the name.
   */
  const find = async (signal?: AbortSignal): Promise<void> => {
    const token = await tokens.current(signal)
    const ask = { token, timeoutMs, signal }
    const details = await send({ method: 'GET', path: paths.account }, ask).catch(() => undefined)
    if (signal?.aborted) throw signal.reason
    if (!details || details.status === 401 || details.status === 429 || details.status >= 500) {
      // Not known yet. The next call reports what is wrong; this question is repeated with the call after it.
      return
    }
    account.observe(details.headers)
    const parsed = accountSchema.safeParse(details.body)
    const secret = 'accessToken' in auth ? auth.accessToken : auth.oauth.clientId
    key = `hubspot:${parsed.success ? parsed.data.portalId : hashed(secret)}`
    if (parsed.success) timeZone = parsed.data.timeZone
    if (!('accessToken' in auth)) return
    const usage = await send({ method: 'GET', path: paths.usage }, ask).catch(() => undefined)
    const today = usageSchema.safeParse(usage?.body)
    const first = today.success ? today.data.results[0] : undefined
    if (!first) return
    resetsAtMs = Date.parse(first.resetsAt)
    if (Number.isNaN(resetsAtMs)) resetsAtMs = undefined
    perDay ??= first.usageLimit
    used = Math.max(used ?? 0, first.currentUsage)
    unreported = reportEvery
  }

  const account: HubspotAccount = {
    async take(kind, signal) {
      if (key === undefined) {
        finding ??= find(signal).finally(() => {
          finding = undefined
        })
        await finding
        if (key === undefined) return { waitMs: 0 }
      }
      const wanted: CallLimit[] = [
        kind === 'search'
          ? { name: 'search', limit: limits.searchPerSecond ?? 5, windowMs: 1000 + jitterMs }
          : { name: 'ten_seconds', limit: perTenSeconds, windowMs: 10_000 + jitterMs },
      ]
      const endsAtMs = dayEndsAtMs()
      wanted.push({ name: 'day', limit: perDay ?? Number.MAX_SAFE_INTEGER, endsAtMs })
      if (used !== undefined && unreported >= reportEvery) {
        unreported = 0
        await budget.learn(key, 'day', used, endsAtMs)
      }
      const { waitMs, limit } = await budget.take(key, wanted)
      return limit === undefined ? { waitMs } : { waitMs, limit: limit as LimitName }
    },

    async close(limit, forMs) {
      if (key !== undefined) await budget.close(key, limit, forMs)
    },

    async dayIsSpent() {
      const leftMs = dayEndsAtMs() - now() + midnightSlackMs
      const waitMs = leftMs > dayMs - wrongMidnightMs ? wrongMidnightMs : leftMs
      if (key !== undefined) await budget.close(key, 'day', waitMs)
      return waitMs
    },

    observe(headers) {
      const max = Number(headers.get('x-hubspot-ratelimit-max') ?? Number.NaN)
      if (limits.perTenSeconds === undefined && max > 0) perTenSeconds = max
      const daily = Number(headers.get('x-hubspot-ratelimit-daily') ?? Number.NaN)
      const left = Number(headers.get('x-hubspot-ratelimit-daily-remaining') ?? Number.NaN)
      if (daily > 0 && left >= 0) {
        if (limits.perDay === undefined) perDay = daily
        used = daily - left
        unreported += 1
      }
    },

    usage() {
      const endsAtMs = dayEndsAtMs()
      if (used === undefined || perDay === undefined) return undefined
      return { used, limit: perDay, resetsAtMs: endsAtMs }
    },
  }
  return account
}

/** Others use the account too: after this many answers HubSpot's own count is copied into the shared budget. */
const reportEvery = 20

/** Returns the next midnight in a time zone, in milliseconds since the epoch. An unknown zone counts as UTC. */
export function nextMidnight(nowMs: number, timeZone: string): number {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  } catch {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: 'UTC', dateStyle: 'short' })
  }
  const today = format.format(nowMs)
  // The day has 23 to 25 hours: search for the minute in which the date changes.
  let low = nowMs
  let high = nowMs + 26 * 3_600_000
  while (high - low > 1000) {
    const middle = (low + high) / 2
    if (format.format(middle) === today) low = middle
    else high = middle
  }
  return Math.round(high / 60_000) * 60_000
}

function hashed(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}
