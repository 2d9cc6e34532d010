import { randomBytes, randomUUID, verify } from 'node:crypto'
import { SalesforceError } from './errors.ts'
import { API_USER_ID, toLongId } from './ids.ts'

export const ORG_ID = toLongId('00DWx0000000XY1')

export interface SalesforceAuth {
  readonly clientId: string
  readonly clientSecret: string
  readonly username: string
  /** Returns the response of the token endpoint. Throws `OauthError` for a refused request. */
  issue(form: URLSearchParams, authorization: string | undefined, baseUrl: string): Record<string, string>
  /** Opens a session, like one that is handed to a script. */
  newSession(): string
  /** Ends every session issued so far. */
  expireSessions(): void
  /** Sets the PEM public key that verifies JWT assertions. */
  setJwtKey(publicKeyPem: string): void
  check(authorization: string | undefined): void
}

/** The token endpoint's own error form, which differs from the list that the data API returns. */
export class OauthError extends Error {
  readonly error: string

  constructor(error: string, description: string) {
    super(description)
    this.name = 'OauthError'
    this.error = error
  }
}

const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer'

/** The secrets that a caller must show. Default: drawn at each start. */
export type SalesforceSecrets = Pick<SalesforceAuth, 'clientId' | 'clientSecret'>

export function createAuth(
  now: () => number,
  sessionLifetimeMs: number,
  secrets: SalesforceSecrets = {
    clientId: `3MVG9${randomBytes(24).toString('hex')}`,
    clientSecret: randomBytes(32).toString('hex').toUpperCase(),
  },
): SalesforceAuth {
  const { clientId, clientSecret } = secrets
  const username = 'enrichment@sandbox-org.com'
  const sessions = new Map<string, number>()
  let jwtKey: string | undefined

  const newSession = (): string => {
    const token = `${ORG_ID.slice(0, 15)}!${randomBytes(48).toString('base64url')}`
    sessions.set(token, now() + sessionLifetimeMs)
    return token
  }
  const checkClient = (form: URLSearchParams, authorization: string | undefined): void => {
    const basic = /^Basic (.+)$/.exec(authorization ?? '')?.[1]
    const [id, secret] = basic
      ? Buffer.from(basic, 'base64').toString().split(':')
      : [form.get('client_id'), form.get('client_secret')]
    if (id !== clientId) throw new OauthError('invalid_client_id', 'client identifier invalid')
    if (secret !== clientSecret) throw new OauthError('invalid_client', 'invalid client credentials')
  }
  const checkAssertion = (assertion: string, baseUrl: string): void => {
    const [header = '', payload = '', signature = '', ...more] = assertion.split('.')
    if (more.length > 0 || signature === '') throw new OauthError('invalid_grant', 'invalid assertion')
    const { alg } = decodePart(header)
    const claims = decodePart(payload)
    if (claims.iss !== clientId) throw new OauthError('invalid_client_id', 'client identifier invalid')
    if (!jwtKey) throw new OauthError('invalid_grant', "user hasn't approved this consumer")
    const isSigned =
      alg === 'RS256' &&
      verify('RSA-SHA256', Buffer.from(`${header}.${payload}`), jwtKey, Buffer.from(signature, 'base64url'))
    if (!isSigned) throw new OauthError('invalid_grant', 'invalid assertion')
    if (claims.aud !== baseUrl) throw new OauthError('invalid_grant', 'audience is invalid')
    if (claims.sub !== username) throw new OauthError('invalid_grant', "user hasn't approved this consumer")
    const expiresAtMs = Number(claims.exp) * 1000
    if (!(expiresAtMs > now())) throw new OauthError('invalid_grant', 'assertion is expired')
    if (expiresAtMs > now() + 5 * 60_000) throw new OauthError('invalid_grant', 'assertion lives too long')
  }

  return {
    clientId,
    clientSecret,
    username,
    newSession,
    issue(form, authorization, baseUrl) {
      const grant = form.get('grant_type')
      // Only the org's own domain answers requests without a user; every other name is that of the shared login.
      if (new URL(baseUrl).hostname !== '127.0.0.1')
        throw new OauthError('invalid_grant', 'request not supported on this domain')
      if (grant === 'client_credentials') checkClient(form, authorization)
      else if (grant === JWT_BEARER) checkAssertion(form.get('assertion') ?? '', baseUrl)
      else throw new OauthError('unsupported_grant_type', 'grant type not supported')
      return {
        access_token: newSession(),
        signature: randomBytes(32).toString('base64'),
        scope: 'api',
        instance_url: baseUrl,
        id: `${baseUrl}/id/${ORG_ID}/${API_USER_ID}`,
        token_type: 'Bearer',
        issued_at: String(now()),
        ...(grant === JWT_BEARER ? { token_id: randomUUID() } : {}),
      }
    },
    expireSessions() {
      sessions.clear()
    },
    setJwtKey(publicKeyPem) {
      jwtKey = publicKeyPem
    },
    check(authorization) {
      const token = /^(?:Bearer|OAuth) (.+)$/.exec(authorization ?? '')?.[1]
      const expiresAt = token === undefined ? undefined : sessions.get(token)
      if (token === undefined || expiresAt === undefined || expiresAt <= now())
        throw new SalesforceError(401, 'INVALID_SESSION_ID', 'Session expired or invalid')
      // A session stays valid as long as it is used.
      sessions.set(token, now() + sessionLifetimeMs)
    },
  }
}

function decodePart(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  } catch {
    throw new OauthError('invalid_grant', 'invalid assertion')
  }
}
