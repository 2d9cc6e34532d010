import { createHash } from 'node:crypto'
import type { CallBudget, CallLimit } from '../../../domain/ports/call-budget.ts'
import type { SendHubspot } from './http.ts'
import type { HubspotAuth, Tokens } from './tokens.ts'
import { accountSchema, paths, usageSchema } from './wire.ts'

/** What an account permits. The daily number is read from the account; without it HubSpot alone counts. */
export interface HubspotLimits {
  /** Calls in ten seconds: 100 for free and starter accounts, 190 for others. The account's own answers correct it. */
  perTenSeconds?: number | undefined
  searchPerSecond?: number | undefined
  perDay?: number | undefined
}

export interface HubspotAccount {
  /** Takes a call from the shared budget; `limit` names the one to wait for. */
  take(kind: 'general' | 'search', signal?: AbortSignal): Promise<{ waitMs: number; limit?: LimitName }>
  close(limit: LimitName, forMs: number): Promise<void>
  /** HubSpot says that the day is spent: closes it for every process, and answers for how long. */
  dayIsSpent(): Promise<number>
  /** Learns from the limit headers of an answer. */
  observe(headers: Headers): void
  usage(): { used: number; limit: number; resetsAtMs: number } | undefined
}

type LimitName = 'ten_seconds' | 'search' | 'day'

const dayMs = 86_400_000
/** Calls may take longer on their way than the ones behind them, and then stand closer together in HubSpot's count. */
const jitterMs = 100
/** The CRM's clock and ours may differ: just before midnight by ours it may still be yesterday there. */
const midnightSlackMs = 30_000
/** Told so shortly after midnight that the day is spent, we have the wrong midnight: then ask again soon. */
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
  let toTell = 0
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
   * Which account this is, for the name under which all its processes and tokens share a budget. Asked once, outside the
   * budget; where the token may not ask, the token itself stands for the account.
   */
  const find = async (signal?: AbortSignal): Promise<void> => {
    const token = await tokens.current(signal)
    const ask = { token, timeoutMs, ...(signal ? { signal } : {}) }
    const details = await send({ method: 'GET', path: paths.account }, ask).catch(() => undefined)
    if (signal?.aborted) throw signal.reason
    if (!details || details.status === 401 || details.status === 429 || details.status >= 500) {
      // Not known yet. The call that comes next will say what is wrong; this is asked again with the one after it.
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
    toTell = tellEvery
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
      if (used !== undefined && toTell >= tellEvery) {
        toTell = 0
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
        toTell += 1
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

/** Others use the account too: how often what HubSpot counts is told to the shared budget, in answers. */
const tellEvery = 20

/** The next midnight in a time zone, in milliseconds since the epoch. A zone that is unknown here counts as UTC. */
export function nextMidnight(nowMs: number, timeZone: string): number {
  let format: Intl.DateTimeFormat
  try {
    format = new Intl.DateTimeFormat('en-CA', { timeZone, dateStyle: 'short' })
  } catch {
    format = new Intl.DateTimeFormat('en-CA', { timeZone: 'UTC', dateStyle: 'short' })
  }
  const today = format.format(nowMs)
  // The day has 23 to 25 hours: look for the minute at which its date turns.
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
