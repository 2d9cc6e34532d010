import { ConfigError, RetriableError } from '../../../domain/errors.ts'
import type { SendHubspot } from './http.ts'
import { paths, tokenSchema } from './wire.ts'

export type HubspotAuth =
  { accessToken: string } | { oauth: { clientId: string; clientSecret: string; refreshToken: string } }

export interface Tokens {
  current(signal?: AbortSignal): Promise<string>
  /** Returns another token to try once more with, after a 401 for `refused`. Throws ConfigError when there is none. */
  replace(refused: string, signal?: AbortSignal): Promise<string>
}

/** The time before its expiry in which an OAuth token is no longer used: a request may take this long. */
const spareMs = 60_000

/** Returns access tokens as they are. OAuth tokens are fetched and renewed by one request for all callers that wait. */
export function createTokens(
  auth: HubspotAuth,
  options: { send: SendHubspot; timeoutMs: number; now: () => number },
): Tokens {
  if ('accessToken' in auth) {
    return {
      async current() {
        return auth.accessToken
      },
      async replace() {
        throw new ConfigError(
          'hubspot_token_refused',
          'HubSpot refuses the access token: it was revoked, rotated or copied wrongly. Copy the token of the private app or service key into HUBSPOT_ACCESS_TOKEN',
        )
      },
    }
  }

  let held: { token: string; freshUntilMs: number } | undefined
  let underWay: Promise<string> | undefined
  const refresh = (): Promise<string> => {
    underWay ??= requestToken(auth.oauth, options)
      .then((fresh) => {
        held = fresh
        return fresh.token
      })
      .finally(() => {
        underWay = undefined
      })
    return underWay
  }

  return {
    async current() {
      return held && held.freshUntilMs > options.now() ? held.token : refresh()
    },
    async replace(refused) {
      // Another call may have renewed it since the refused one was sent.
      if (held && held.token !== refused) return held.token
      return refresh()
    },
  }
}

async function requestToken(
  oauth: { clientId: string; clientSecret: string; refreshToken: string },
  { send, timeoutMs, now }: { send: SendHubspot; timeoutMs: number; now: () => number },
): Promise<{ token: string; freshUntilMs: number }> {
  const form = {
    grant_type: 'refresh_token',
    client_id: oauth.clientId,
    client_secret: oauth.clientSecret,
    refresh_token: oauth.refreshToken,
  }
  let response: Awaited<ReturnType<SendHubspot>>
  try {
    response = await send({ method: 'POST', path: paths.token, form }, { timeoutMs })
  } catch (cause) {
    throw new RetriableError('hubspot_unreachable', 'no answer from HubSpot’s token endpoint', { cause })
  }
  if (response.status === 200) {
    const parsed = tokenSchema.safeParse(response.body)
    if (parsed.success) {
      const lifetimeMs = parsed.data.expires_in * 1000
      return {
        token: parsed.data.access_token,
        freshUntilMs: now() + lifetimeMs - Math.min(spareMs, lifetimeMs / 2),
      }
    }
  }
  if (response.status === 429 || response.status >= 500 || response.status === 200)
    throw new RetriableError('hubspot_unavailable', `HubSpot’s token endpoint answered ${response.status}`)
  throw new ConfigError(
    'hubspot_refresh_refused',
    'HubSpot does not renew the OAuth token: the app was uninstalled, or its client id, secret or refresh token are wrong. Install the app in the account again and store the new refresh token',
    { details: { status: response.status } },
  )
}
