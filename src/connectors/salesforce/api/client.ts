import { setTimeout as delay } from 'node:timers/promises'
import { Connection } from 'jsforce'
import type { z } from 'zod'
import { ConfigError, RetriableError } from '../../../domain/errors.ts'
import type { CallBudget } from '../../../domain/ports/call-budget.ts'
import { classify, isPassing } from './api-error.ts'
import { createLogin, type SalesforceAuth, type Session } from './login.ts'
import { createTransport, type WireResponse } from './transport.ts'

export interface ClientOptions {
  loginUrl: string
  auth: SalesforceAuth
  /** For example `68.0`. */
  apiVersion: string
  /** The time for one request, including the whole answer. */
  timeoutMs: number
  /** The share of the org's daily API requests, by all its users, above which no request is sent. From 0 to 1. */
  quotaShare: number
  /** The calls that all our processes together may still send to the org. */
  budget: CallBudget
  now: () => number
  /** In [0, 1). */
  random: () => number
  wait?: (ms: number, signal?: AbortSignal) => Promise<void>
}

export interface ApiCall {
  method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** Below the version's root (`/query`), or from the root (`/services/...`). */
  path: string
  query?: Record<string, string>
  json?: unknown
  csv?: string
  headers?: Record<string, string>
  /** The request has the same effect when it is sent twice. Default: for GET, PUT and DELETE. */
  isRepeatable?: boolean
}

interface TextAnswer {
  text: string
  headers: Record<string, string>
}

interface Quota {
  used: number
  limit: number
}

export interface SalesforceClient {
  readonly apiVersion: string
  /** Returns an answer in JSON. Throws the errors of `classify`. */
  call<T extends z.ZodType>(schema: T, call: ApiCall): Promise<z.infer<T>>
  /** Returns an answer as text, with its headers: the bulk API answers in CSV. */
  callForText(call: ApiCall): Promise<TextAnswer>
  session(): Promise<Session>
  /** Returns the org's requests of the last 24 hours as of the last answer; undefined before the first. */
  quota(): Quota | undefined
  close(): Promise<void>
}

/** Salesforce counts over a rolling 24 hours, so the count never resets: it is read again every quarter of an hour. */
const dailyLimit = 'DAILY'
const windowMs = 15 * 60_000
const tries = 3
const firstPauseMs = 500

/**
 * One session with one org. Logs in at the first request. When the session expires, it logs in again, once for all open
 * requests. A repeatable request is repeated when no answer came; all other waiting is left to the caller.
 */
export function createSalesforceClient(options: ClientOptions): SalesforceClient {
  const { apiVersion, now, random } = options
  const wait = options.wait ?? ((ms, signal) => delay(ms, undefined, signal ? { signal } : {}))
  const transport = createTransport({ timeoutMs: options.timeoutMs })
  const login = createLogin(options)
  let opening: Promise<{ connection: Connection; session: Session }> | undefined
  let refusedLogins = 0
  let loginError: unknown
  let quota: Quota | undefined

  /** The first login; requests that arrive meanwhile wait for it. */
  function open(): Promise<{ connection: Connection; session: Session }> {
    opening ??= login(transport).then(
      (session) => ({ session, connection: connect(session) }),
      (error: unknown) => {
        opening = undefined
        throw error
      },
    )
    return opening
  }

  function connect(session: Session): Connection {
    return new Connection({
      instanceUrl: session.instanceUrl,
      accessToken: session.accessToken,
      version: apiVersion,
      refreshFn: async (connection, done) => {
        try {
          const renewed = await renew()
          connection.instanceUrl = renewed.instanceUrl
          done(null, renewed.accessToken)
        } catch (error) {
          loginError = error
          done(error as Error)
        }
      },
    })
  }

  async function renew(): Promise<Session> {
    // jsforce logs in again as long as answers are 401: an org that refuses its own new sessions would keep it in that
    // loop forever.
    if (refusedLogins >= 2) {
      throw new ConfigError(
        'salesforce_session_refused',
        'Salesforce refuses the sessions that it has just issued; check the policies of the app (IP ranges, session)',
      )
    }
    refusedLogins += 1
    return login(transport)
  }

  async function send(
    call: ApiCall,
    responseType?: string,
  ): Promise<{ body: unknown; response: WireResponse }> {
    const { connection, session } = await open()
    await takeCall(session)
    const { method = 'GET' } = call
    const request = `${method} ${call.path}`
    let response: WireResponse | undefined
    try {
      const body = await connection.request(
        {
          method,
          url: urlOf(call),
          headers: { ...contentType(call), ...call.headers },
          ...bodyOf(call),
        },
        {
          responseType,
          transport: transport.forJsforce((came) => {
            response = came
            if (came.statusCode !== 401) refusedLogins = 0
          }),
        },
      )
      await learn(session, connection)
      return { body, response: response as WireResponse }
    } catch (error) {
      // jsforce wraps the error of its refresh function in its own error.
      const isLogin = error instanceof Error && error.message.startsWith('Unable to refresh session')
      const classified = classify({ error: isLogin ? loginError : error, request, response, nowMs: now() })
      await learn(session, connection, classified)
      throw classified
    }
  }

  async function sendRepeatedly(
    call: ApiCall,
    responseType?: string,
  ): Promise<{ body: unknown; response: WireResponse }> {
    const isRepeatable = call.isRepeatable ?? ['GET', 'PUT', 'DELETE'].includes(call.method ?? 'GET')
    for (let attempt = 1; ; attempt++) {
      try {
        return await send(call, responseType)
      } catch (error) {
        if (!isRepeatable || attempt >= tries || !isPassing(error)) throw error
        await wait(firstPauseMs * 2 ** (attempt - 1) * (0.5 + random()))
      }
    }
  }

  /** Each answer contains the org's own count, which includes requests of others. */
  async function takeCall({ orgId }: Session): Promise<void> {
    const share = quota ? Math.floor(quota.limit * options.quotaShare) : Number.MAX_SAFE_INTEGER
    const { waitMs } = await options.budget.take(orgId, [
      { name: dailyLimit, limit: share, endsAtMs: windowEnd(now()) },
    ])
    if (waitMs === 0) return
    throw new RetriableError(
      'salesforce_quota',
      "our share of the org's API requests of a day is used up; the rest is left to others",
      {
        retryAfterMs: waitMs,
        countsAsTry: false,
        details: { share, used: quota?.used, limit: quota?.limit },
      },
    )
  }

  async function learn({ orgId }: Session, connection: Connection, error?: unknown): Promise<void> {
    quota = connection.limitInfo.apiUsage ?? quota
    if (quota) await options.budget.learn(orgId, dailyLimit, quota.used, windowEnd(now()))
    if (error instanceof RetriableError && error.code === 'salesforce_quota' && error.retryAfterMs)
      await options.budget.close(orgId, dailyLimit, error.retryAfterMs)
  }

  return {
    apiVersion,
    async call(schema, call) {
      const { body } = await sendRepeatedly(call)
      const parsed = schema.safeParse(body)
      if (parsed.success) return parsed.data
      const at = parsed.error.issues[0]
      throw new RetriableError(
        'salesforce_unreadable',
        `the answer to ${call.method ?? 'GET'} ${call.path} is not what the API documents`,
        { details: { at: at?.path.join('.'), problem: at?.code } },
      )
    },
    async callForText(call) {
      const { response } = await sendRepeatedly(call, 'text/plain')
      return { text: response.body, headers: response.headers }
    },
    session: async () => (await open()).session,
    quota: () => quota,
    close: () => transport.close(),
  }
}

function urlOf({ path, query }: ApiCall): string {
  return query ? `${path}?${new URLSearchParams(query).toString()}` : path
}

function bodyOf({ json, csv }: ApiCall): { body?: string } {
  if (csv !== undefined) return { body: csv }
  return json === undefined ? {} : { body: JSON.stringify(json) }
}

function contentType({ json, csv }: ApiCall): Record<string, string> {
  if (csv !== undefined) return { 'content-type': 'text/csv; charset=UTF-8' }
  return json === undefined ? {} : { 'content-type': 'application/json' }
}

function windowEnd(nowMs: number): number {
  return (Math.floor(nowMs / windowMs) + 1) * windowMs
}
