import { createHash, createHmac, verify, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import type { NonceLedger } from '../../store/access/nonces.ts'
import { type AuthenticationRequest, type Authenticator, type Caller, refuse } from '../server/caller.ts'
import { equal, maxAgeMs, skewMs } from './hubspot.ts'

export interface SalesforceAuthenticatorOptions {
  /** Shared with the package in the org. Undefined: calls signed by HMAC are not taken. */
  secret: string | undefined
  /** What the org signs its tokens with. Undefined: tokens are not taken. */
  jwt: { key: KeyObject; issuer: string; audience: string } | undefined
  nonces: NonceLedger
  now: () => Date
}

const headerSchema = z.object({ alg: z.string() })
const claimsSchema = z.object({
  iss: z.string(),
  aud: z.union([z.string(), z.array(z.string())]),
  exp: z.number(),
  iat: z.number().optional(),
  nbf: z.number().optional(),
  /** Under this the token is remembered: the same token can be written in many ways, its `jti` cannot. */
  jti: z.string().min(1).max(200),
  /** Hex. A token is good for one body alone. */
  body_sha256: z.string(),
})

/** Lets in what a Salesforce org has signed: a JWT of its own certificate, or an HMAC with time and nonce. */
export function salesforceAuthenticator(options: SalesforceAuthenticatorOptions): Authenticator {
  const { nonces } = options

  async function byToken(token: string, body: string): Promise<Caller> {
    const { jwt } = options
    if (!jwt)
      throw refuse('salesforce_not_set_up', 'tokens of Salesforce are not set up (http.salesforce.jwt)')
    const nowMs = options.now().getTime()
    const { claims, isGenuine } = readToken(token, jwt.key)
    if (!isGenuine || !claims)
      throw refuse(
        'salesforce_wrong_signature',
        'the token is not signed by the org’s certificate (RS256), or lacks iss, aud, exp, jti or body_sha256',
      )
    if (claims.iss !== jwt.issuer) throw refuse('salesforce_wrong_issuer', 'the token’s iss is another')
    if (![claims.aud].flat().includes(jwt.audience))
      throw refuse('salesforce_wrong_audience', 'the token’s aud is another')
    const expMs = claims.exp * 1000
    if (expMs + skewMs <= nowMs) throw refuse('salesforce_stale', 'the token has ended')
    // A token for long would be a password: whoever reads it once could use it for as long.
    if (expMs > nowMs + maxAgeMs + skewMs)
      throw refuse('salesforce_too_long', 'the token is good for more than five minutes')
    const from = Math.max(claims.nbf ?? 0, claims.iat ?? 0) * 1000
    if (from > nowMs + skewMs) throw refuse('salesforce_future', 'the token is from the future')
    const bodyDigest = createHash('sha256').update(body).digest('hex')
    if (!equal(claims.body_sha256.toLowerCase(), bodyDigest))
      throw refuse('salesforce_wrong_signature', 'the token was signed for another body')
    return onlyOnce(`jwt|${claims.iss}|${claims.jti}`, new Date(expMs + skewMs))
  }

  async function byHmac(request: AuthenticationRequest): Promise<Caller> {
    const { secret } = options
    if (secret === undefined)
      throw refuse(
        'salesforce_not_set_up',
        'calls from Salesforce are not set up (PAYDIRT_SALESFORCE_SECRET or http.salesforce.jwt)',
        options.jwt ? 401 : 404,
      )
    const timestamp = request.headers.get('x-paydirt-timestamp') ?? ''
    const nonce = request.headers.get('x-paydirt-nonce') ?? ''
    const signature = request.headers.get('x-paydirt-signature')
    if (signature === null) throw refuse('salesforce_unsigned', 'the request bears no x-paydirt-signature')
    if (!/^[\w.-]{8,128}$/.test(nonce) || !/^\d{10}$/.test(timestamp))
      throw refuse(
        'salesforce_unsigned',
        'x-paydirt-nonce or x-paydirt-timestamp is missing or no such thing',
      )
    const path = new URL(request.uri).pathname
    const signed = `${timestamp}.${nonce}.${request.method}.${path}.${request.body}`
    const expected = `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`
    if (!equal(signature, expected))
      throw refuse('salesforce_wrong_signature', 'the signature does not fit the request')
    const nowMs = options.now().getTime()
    const atMs = Number(timestamp) * 1000
    if (nowMs - atMs > maxAgeMs) throw refuse('salesforce_stale', 'the request was signed too long ago')
    if (atMs - nowMs > skewMs) throw refuse('salesforce_future', 'the request was signed in the future')
    return onlyOnce(`hmac|${nonce}`, new Date(atMs + maxAgeMs + skewMs))
  }

  async function onlyOnce(name: string, expiresAt: Date): Promise<Caller> {
    const digest = createHash('sha256').update(`salesforce|${name}`).digest('hex')
    if (!(await nonces.use(digest, expiresAt)))
      throw refuse('salesforce_replayed', 'this request was made before', 403)
    return { kind: 'system', name: 'salesforce', releaseNonce: () => nonces.giveBack(digest) }
  }

  return {
    security: ['salesforceJwt', 'salesforceHmac'],
    async authenticate(request) {
      const token = /^Bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
      return token === undefined ? byHmac(request) : byToken(token, request.body)
    },
  }
}

function readToken(token: string, key: KeyObject) {
  const [head = '', body = '', signature = '', ...rest] = token.split('.')
  const header = headerSchema.safeParse(json(head))
  const claims = claimsSchema.safeParse(json(body))
  const isGenuine =
    rest.length === 0 &&
    // The key decides the algorithm, never the token.
    header.data?.alg === 'RS256' &&
    // `from` passes over whatever is no base64url.
    /^[\w-]+$/.test(signature) &&
    verify('RSA-SHA256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))
  return { claims: claims.data, isGenuine }
}

function json(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return undefined
  }
}
