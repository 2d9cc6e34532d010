import type { z } from 'zod'
import { ConfigError, FatalError, RetriableError } from '../../../domain/errors.ts'
import { retryAfter } from '../../../domain/retry-after.ts'
import type { HubspotAccount } from './account.ts'
import type { HubspotRequest, HubspotResponse, SendHubspot } from './http.ts'
import { missingScopes } from './scopes.ts'
import type { Tokens } from './tokens.ts'
import { refusalSchema, type Refusal } from './wire.ts'

interface HubspotCall extends HubspotRequest {
  /** Searches have their own limit. Default general. */
  kind?: 'general' | 'search'
  /** The call must not be repeated by itself after an error of the server or the connection: it may have been carried out. */
  once?: boolean
  signal?: AbortSignal | undefined
}

/** An answer with a status below 300, or a refusal of the request's content (400, 404, 409, 413). */
type HubspotAnswer<T> = { ok: true; status: number; data: T } | ({ ok: false } & HubspotRefusal)

export interface HubspotRefusal {
  status: number
  refusal: Refusal
}

export interface HubspotApi {
  /**
   * Sends one call when the limits allow it. Waits and repeats where that helps within seconds: short limits, locks, a
   * passing server error. Throws RetriableError where it does not (`countsAsTry` false for limits, with the time to
   * wait), ConfigError for credentials and rights. Returns a refusal of the content.
   */
  call<T extends z.ZodType>(schema: T, call: HubspotCall): Promise<HubspotAnswer<z.output<T>>>
  /** The same, for calls whose refusal the caller cannot use: throws FatalError. */
  need<T extends z.ZodType>(schema: T, call: HubspotCall): Promise<z.output<T>>
}

export interface HubspotApiOptions {
  send: SendHubspot
  tokens: Tokens
  account: HubspotAccount
  timeoutMs: number
  /** The longest that one call may wait in total before its work returns to the queue. */
  patienceMs: number
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>
  random?: () => number
  now: () => number
}

const maxServerErrors = 3

export function createHubspotApi(options: HubspotApiOptions): HubspotApi {
  const { send, tokens, account, timeoutMs, patienceMs, sleep, now } = options
  const random = options.random ?? Math.random

  /** Waits when the call may still wait that long; otherwise returns the work to the queue for that time. */
  const wait = async (
    patience: { leftMs: number },
    waitMs: number,
    give: () => RetriableError,
    signal?: AbortSignal,
  ): Promise<void> => {
    if (waitMs > patience.leftMs) throw give()
    patience.leftMs -= waitMs
    await sleep(waitMs, signal)
  }

  const acquireCall = async (call: HubspotCall, patience: { leftMs: number }): Promise<void> => {
    for (;;) {
      const { waitMs, limit } = await account.take(call.kind ?? 'general', call.signal)
      if (waitMs === 0) return
      if (limit === 'day') throw dailyLimit(waitMs)
      await wait(patience, waitMs, () => limited(limit ?? 'calls', waitMs), call.signal)
    }
  }

  const request = async (call: HubspotCall): Promise<HubspotResponse> => {
    const patience = { leftMs: patienceMs }
    let serverErrors = 0
    let shortLimits = 0
    let renewed = false
    for (;;) {
      await acquireCall(call, patience)
      const token = await tokens.current(call.signal)
      const response = await sendOnce(call, token)
      const again = response instanceof Error || response.status >= 500
      if (again) {
        serverErrors += 1
        const failed = response instanceof Error ? response : unavailable(response.status)
        if (call.once || serverErrors >= maxServerErrors) throw failed
        // Every other call of ours may be repeated: all of them read, or set values.
        await wait(patience, (250 + 500 * random()) * 2 ** serverErrors, () => failed, call.signal)
        continue
      }
      account.observe(response.headers)
      switch (response.status) {
        case 401:
          if (renewed) throw refusedTwice()
          await tokens.replace(token, call.signal)
          renewed = true
          continue
        case 403:
          throw forbidden(response, call)
        case 423:
          await wait(patience, 2000 + 500 * random(), () => busy('locked', 5000), call.signal)
          continue
        case 429: {
          const { policyName } = refusalOf(response)
          if (policyName === 'DAILY') throw dailyLimit(await account.dayIsSpent())
          const limit = policyName === 'SECONDLY' ? 'search' : 'ten_seconds'
          // No header says when: the window of one second has passed after one second, and the ten-second window frees
          // itself gradually.
          const waitMs = limit === 'search' ? 1000 : Math.min(10_000, 2000 * 2 ** shortLimits++)
          await account.close(limit, waitMs)
          await wait(patience, waitMs, () => limited(limit, waitMs), call.signal)
          continue
        }
        case 477: {
          const waitMs = retryAfter(Object.fromEntries(response.headers), now()) ?? 60_000
          await wait(patience, waitMs, () => busy('migrating', waitMs), call.signal)
          continue
        }
      }
      return response
    }
  }

  const sendOnce = async (call: HubspotCall, token: string): Promise<HubspotResponse | RetriableError> => {
    const { kind: _, once: __, signal, ...plain } = call
    try {
      return await send(plain, { token, timeoutMs, signal })
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      const isLate = cause instanceof Error && cause.name === 'TimeoutError'
      return new RetriableError(
        isLate ? 'hubspot_timeout' : 'hubspot_unreachable',
        isLate ? `HubSpot gave no answer within ${timeoutMs / 1000} s` : 'HubSpot cannot be reached',
        { cause },
      )
    }
  }

  const api: HubspotApi = {
    async call(schema, call) {
      const response = await request(call)
      if (response.status >= 300) return { ok: false, status: response.status, refusal: refusalOf(response) }
      const parsed = schema.safeParse(response.body)
      if (parsed.success) return { ok: true, status: response.status, data: parsed.data as never }
      throw new FatalError('hubspot_bad_answer', `HubSpot’s answer to ${call.path} has another shape`, {
        details: { status: response.status, at: parsed.error.issues[0]?.path.join('.') },
      })
    },
    async need(schema, call) {
      const answer = await api.call(schema, call)
      if (answer.ok) return answer.data
      throw refused(call.path, answer)
    },
  }
  return api
}

/** A refusal without its message, which may contain values of records. */
export function refused(path: string, { status, refusal }: HubspotRefusal): FatalError {
  const code = refusal.errors?.[0]?.code ?? refusal.category ?? 'no reason given'
  return new FatalError('hubspot_refused', `HubSpot refused ${path} with ${status}: ${code}`, {
    details: { status, category: refusal.category },
  })
}

function dailyLimit(waitMs: number): RetriableError {
  return new RetriableError('hubspot_daily_limit', 'the account’s calls of the day are used up', {
    retryAfterMs: Math.ceil(waitMs),
    countsAsTry: false,
  })
}

function limited(limit: string, waitMs: number): RetriableError {
  return new RetriableError('hubspot_rate_limit', `the account’s limit of calls (${limit}) is reached`, {
    retryAfterMs: Math.ceil(waitMs),
    countsAsTry: false,
  })
}

function busy(what: string, waitMs: number): RetriableError {
  return new RetriableError(`hubspot_${what}`, `HubSpot says that the account or record is ${what}`, {
    retryAfterMs: Math.ceil(waitMs),
    countsAsTry: false,
  })
}

function unavailable(status: number): RetriableError {
  return new RetriableError('hubspot_unavailable', `HubSpot answered ${status}`, { details: { status } })
}

function refusedTwice(): ConfigError {
  return new ConfigError(
    'hubspot_token_refused',
    'HubSpot refuses a token that it has just issued: install the app in the account again',
  )
}

function forbidden(response: HubspotResponse, call: HubspotCall): ConfigError {
  const { category, errors = [] } = refusalOf(response)
  const { chosen, others } = missingScopes(errors, call)
  if (category === 'MISSING_SCOPES' && chosen.length > 0)
    return new ConfigError(
      'hubspot_missing_scopes',
      `the HubSpot token lacks ${chosen.join(', ')}: add it to the scopes of the app, and install or rotate again`,
      {
        details: {
          scopes: chosen.join(' '),
          ...(others.length > 0 ? { alternatives: others.join(' ') } : {}),
        },
      },
    )
  return new ConfigError('hubspot_forbidden', 'HubSpot does not permit this call with this token', {
    details: { category },
  })
}

function refusalOf(response: HubspotResponse): Refusal {
  const parsed = refusalSchema.safeParse(response.body)
  return parsed.success ? parsed.data : {}
}
