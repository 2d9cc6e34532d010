import { setTimeout } from 'node:timers/promises'
import type { CallBudget } from '../../../domain/ports/call-budget.ts'
import { createMemoryCallBudget } from '../../budget.ts'
import { createHubspotAccount, type HubspotAccount, type HubspotLimits } from './account.ts'
import { createHubspotApi, type HubspotApi } from './client.ts'
import { createHubspotHttp, type SendHubspot } from './http.ts'
import { createTokens, type HubspotAuth } from './tokens.ts'

interface OpenApiOptions {
  auth: HubspotAuth
  /** Default: HubSpot's own address. */
  baseUrl?: string | undefined
  /** Shared by all processes that use the account. Default: this process's own. */
  budget?: CallBudget | undefined
  limits?: HubspotLimits | undefined
  timeoutMs: number
  patienceMs: number
  now: () => number
  random?: (() => number) | undefined
  sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined
  /** Ends what is on its way and what waits. */
  closing: AbortSignal
}

const defaultBaseUrl = 'https://api.hubapi.com'

/** Opens the API of one HubSpot account, with its tokens and its limits. */
export function openHubspotApi(options: OpenApiOptions): { api: HubspotApi; account: HubspotAccount } {
  const { auth, timeoutMs, patienceMs, now, closing, sleep = waitFor } = options
  const http = createHubspotHttp(options.baseUrl ?? defaultBaseUrl)
  const orClosing = (signal: AbortSignal | undefined) =>
    signal ? AbortSignal.any([signal, closing]) : closing
  const send: SendHubspot = (request, { signal, ...rest }) =>
    http(request, { ...rest, signal: orClosing(signal) })
  const tokens = createTokens(auth, { send, timeoutMs, now })
  const account = createHubspotAccount({
    auth,
    tokens,
    send,
    budget: options.budget ?? createMemoryCallBudget({ now }),
    limits: options.limits ?? {},
    timeoutMs,
    now,
  })
  const api = createHubspotApi({
    send,
    tokens,
    account,
    timeoutMs,
    patienceMs,
    now,
    sleep: (ms, signal) => sleep(ms, orClosing(signal)),
    ...(options.random ? { random: options.random } : {}),
  })
  return { api, account }
}

async function waitFor(ms: number, signal?: AbortSignal): Promise<void> {
  await setTimeout(ms, undefined, signal ? { signal } : {})
}
