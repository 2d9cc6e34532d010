import { createHash, createHmac, verify, type KeyObject } from 'node:crypto'
import { z } from 'zod'
import type { NonceLedger } from '../../store/access/nonces.ts'
import { type AuthenticationRequest, type Authenticator, type Caller, refuse } from '../server/caller.ts'
import { equal, maxAgeMs, skewMs } from './hubspot.ts'

export interface SalesforceAuthenticatorOptions {
  /** Shared with the package in the org. Undefined: HMAC signatures are refused. */
  secret: string | undefined
  /** The public key of the org's certificate, and the expected claims. Undefined: tokens are refused. */
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
  /** Identifies a used token: the same token can be encoded in many ways, but its `jti` cannot. */
  jti: z.string().min(1).max(200),
  /** Hex. Binds the token to one body. */
  body_sha256: z.string(),
})

/** Authenticates a request that a Salesforce org has signed, by a JWT or by an HMAC with timestamp and nonce. */
export function salesforceAuthenticator(options: SalesforceAuthenticatorOptions): Authenticator {
  const { nonces } = options

  async function byToken(token: string, body: string): Promise<Caller> {
    const { jwt } = options
    if (!jwt)
      throw refuse('salesforce_not_set_up', 'JWTs from Salesforce are not set up (http.salesforce.jwt)')
    const nowMs = options.now().getTime()
    const { claims, isGenuine } = readToken(token, jwt.key)
    if (!isGenuine || !claims)
      throw refuse(
        'salesforce_wrong_signature',
        'the token is not signed by the org’s certificate (RS256), or lacks iss, aud, exp, jti or body_sha256',
      )
    if (claims.iss !== jwt.issuer) throw refuse('salesforce_wrong_issuer', 'the claim iss is wrong')
    if (![claims.aud].flat().includes(jwt.audience))
      throw refuse('salesforce_wrong_audience', 'the claim aud is wrong')
    const expMs = claims.exp * 1000
    if (expMs + skewMs <= nowMs) throw refuse('salesforce_stale', 'the token has expired')
    // A long-lived token would be as good as a password to anyone who intercepts it.
    if (expMs > nowMs + maxAgeMs + skewMs)
      throw refuse('salesforce_too_long', 'the token is valid for more than five minutes')
    const from = Math.max(claims.nbf ?? 0, claims.iat ?? 0) * 1000
    if (from > nowMs + skewMs) throw refuse('salesforce_future', 'the token is not valid yet')
    const bodyDigest = createHash('sha256').update(body).digest('hex')
    if (!equal(claims.body_sha256.toLowerCase(), bodyDigest))
      throw refuse('salesforce_wrong_signature', 'the claim body_sha256 does not match the body')
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
    if (signature === null) throw refuse('salesforce_unsigned', 'the header x-paydirt-signature is missing')
    if (!/^[\w.-]{8,128}$/.test(nonce) || !/^\d{10}$/.test(timestamp))
      throw refuse(
        'salesforce_unsigned',
        'the header x-paydirt-nonce or x-paydirt-timestamp is missing or malformed',
      )
    const path = new URL(request.uri).pathname
    const signed = `${timestamp}.${nonce}.${request.method}.${path}.${request.body}`
    const expected = `v1=${createHmac('sha256', secret).update(signed).digest('hex')}`
    if (!equal(signature, expected))
      throw refuse('salesforce_wrong_signature', 'the signature does not match the request')
    const nowMs = options.now().getTime()
    const atMs = Number(timestamp) * 1000
    if (nowMs - atMs > maxAgeMs) throw refuse('salesforce_stale', 'the request was signed too long ago')
    if (atMs - nowMs > skewMs) throw refuse('salesforce_future', 'the request was signed in the future')
    return onlyOnce(`hmac|${nonce}`, new Date(atMs + maxAgeMs + skewMs))
  }

  async function onlyOnce(name: string, expiresAt: Date): Promise<Caller> {
    const digest = createHash('sha256').update(`salesforce|${name}`).digest('hex')
    if (!(await nonces.use(digest, expiresAt)))
      throw refuse('salesforce_replayed', 'this request was received before', 403)
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
    // The algorithm is fixed by our key, never taken from the token.
    header.data?.alg === 'RS256' &&
    // `Buffer.from` skips characters that are not base64url.
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
