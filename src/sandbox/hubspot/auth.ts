import { randomUUID } from 'node:crypto'
import { HubspotError } from './errors.ts'

export const ALL_SCOPES = [
  'crm.objects.companies.read',
  'crm.objects.companies.write',
  'crm.objects.contacts.read',
  'crm.objects.contacts.write',
  'crm.schemas.companies.read',
  'crm.schemas.companies.write',
  'crm.schemas.contacts.read',
  'crm.schemas.contacts.write',
  'crm.objects.deals.read',
  'crm.objects.owners.read',
  'tickets',
  'automation',
  'oauth',
] as const

interface OauthApp {
  readonly clientId: string
  readonly clientSecret: string
  readonly refreshToken: string
}

export interface HubspotAuth {
  /** The token of a private app or service key. It never expires; it can only be revoked. */
  readonly accessToken: string
  readonly oauth: OauthApp
  readonly scopes: Set<string>
  /** Issues an OAuth access token for a matching client and refresh token. It is valid for 30 minutes. */
  refresh(form: URLSearchParams): Record<string, unknown>
  /** Expires every OAuth token issued so far. */
  expireTokens(): void
  revokeAccessToken(): void
  check(authorization: string | undefined): { token: string; isOauth: boolean }
  /** Each of these scopes must be granted, or another one that includes it. */
  require(...scopes: string[]): void
}

const OAUTH_TOKEN_LIFETIME_MS = 30 * 60_000

/** The secrets that a caller must show. Default: drawn at each start. */
export interface HubspotSecrets {
  readonly accessToken: string
  readonly clientSecret: string
}

export function createAuth(
  now: () => number,
  scopes: readonly string[],
  secrets: HubspotSecrets = { accessToken: `pat-na1-${randomUUID()}`, clientSecret: randomUUID() },
): HubspotAuth {
  const granted = new Set(scopes)
  const issued = new Map<string, number>()
  const oauth: OauthApp = {
    clientId: '11111111-2222-3333-4444-555555555555',
    clientSecret: secrets.clientSecret,
    refreshToken: randomUUID(),
  }
  const { accessToken } = secrets
  let isRevoked = false

  return {
    accessToken,
    oauth,
    scopes: granted,
    refresh(form) {
      if (form.get('grant_type') !== 'refresh_token')
        throw oauthError(
          'BAD_GRANT_TYPE',
          'invalid_grant',
          `unsupported grant type: ${form.get('grant_type')}`,
        )
      if (form.get('client_id') !== oauth.clientId || form.get('client_secret') !== oauth.clientSecret)
        throw oauthError('BAD_CLIENT_SECRET', 'invalid_client', 'missing or invalid client secret')
      if (form.get('refresh_token') !== oauth.refreshToken)
        throw oauthError('BAD_REFRESH_TOKEN', 'invalid_grant', 'missing or invalid refresh token')
      const token = `CN${randomUUID().replaceAll('-', '')}`
      issued.set(token, now() + OAUTH_TOKEN_LIFETIME_MS)
      return {
        token_type: 'bearer',
        token_use: 'access_token',
        refresh_token: oauth.refreshToken,
        access_token: token,
        expires_in: OAUTH_TOKEN_LIFETIME_MS / 1000,
      }
    },
    expireTokens() {
      for (const token of issued.keys()) issued.set(token, now() - 1000)
    },
    revokeAccessToken() {
      isRevoked = true
    },
    check(authorization) {
      const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1]
      if (!token)
        throw new HubspotError(
          401,
          'INVALID_AUTHENTICATION',
          'Authentication credentials not found. This API supports OAuth 2.0 authentication and you can find more details at https://developers.hubspot.com/docs/methods/auth/oauth-overview',
        )
      if (token === accessToken && !isRevoked) return { token, isOauth: false }
      const expiresAt = issued.get(token)
      if (expiresAt === undefined)
        throw new HubspotError(
          401,
          'INVALID_AUTHENTICATION',
          'Authentication credentials not found. This API supports OAuth 2.0 authentication and you can find more details at https://developers.hubspot.com/docs/methods/auth/oauth-overview',
        )
      if (expiresAt <= now())
        throw new HubspotError(
          401,
          'EXPIRED_AUTHENTICATION',
          `The OAuth token used to make this call expired ${Math.ceil((now() - expiresAt) / 1000)} second(s) ago.`,
          { context: { 'expire time': [new Date(expiresAt).toISOString()] } },
        )
      return { token, isOauth: true }
    },
    require(...needed) {
      const missing = needed.map(sufficient).filter((scopes) => !scopes.some((scope) => granted.has(scope)))
      if (missing.length === 0) return
      throw new HubspotError(
        403,
        'MISSING_SCOPES',
        "This app hasn't been granted all required scopes to make this call. Read more about required scopes here: https://developers.hubspot.com/scopes.",
        {
          errors: missing.map((scopes) => ({
            message: 'One or more of the following scopes are required.',
            context: { requiredGranularScopes: scopes },
          })),
          links: { scopes: 'https://developers.hubspot.com/scopes' },
        },
      )
    },
  }
}

/** Returns every scope of which one is enough, in no order that helps: the scope itself is not the first. */
function sufficient(scope: string): string[] {
  const [, kind, type, action] = /^crm\.(objects|schemas)\.(\w+)\.(read|write)$/.exec(scope) ?? []
  if (kind === undefined) return [scope]
  if (kind === 'schemas')
    // Properties can also be read with any right to the records.
    return action === 'read'
      ? [`crm.objects.${type}.read`, `crm.objects.${type}.write`, scope].toSorted()
      : [scope]
  return [
    scope,
    `crm.objects.${type}.sensitive.${action}.v2`,
    `crm.objects.${type}.highly_sensitive.${action}.v2`,
  ].toSorted()
}

function oauthError(status: string, error: string, message: string): HubspotError {
  return new HubspotError(400, status, message, { status, error, error_description: message })
}
