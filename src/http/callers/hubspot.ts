import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { NonceLedger } from '../../store/access/nonces.ts'
import { type AuthenticationRequest, type Authenticator, refuse } from '../server/caller.ts'

export interface HubspotAuthenticatorOptions {
  /** The app's client secret. Undefined: every call is refused. */
  clientSecret: string | undefined
  nonces: NonceLedger
  now: () => Date
  /** Accepts signatures of version 2 too. They have no timestamp, so the route has to be idempotent. */
  allowsV2?: boolean | undefined
}

export const maxAgeMs = 5 * 60_000
/** Tolerance for clock skew. */
export const skewMs = 10_000

/** Authenticates a request that HubSpot has signed with version 3, at most five minutes ago, and once only. */
export function hubspotAuthenticator(options: HubspotAuthenticatorOptions): Authenticator {
  const { nonces } = options

  return {
    security: ['hubspotSignature', ...(options.allowsV2 ? ['hubspotSignatureV2'] : [])],
    async authenticate(request) {
      const { clientSecret } = options
      if (clientSecret === undefined)
        throw refuse('hubspot_not_set_up', 'calls from HubSpot are not set up (HUBSPOT_CLIENT_SECRET)', 404)
      const signature = request.headers.get('x-hubspot-signature-v3')
      if (signature === null && options.allowsV2) {
        checkV2(request, clientSecret)
        return { kind: 'system', name: 'hubspot' }
      }
      if (signature === null) throw refuse('hubspot_unsigned', 'the header X-HubSpot-Signature-v3 is missing')
      const timestamp = request.headers.get('x-hubspot-request-timestamp') ?? ''
      const nowMs = options.now().getTime()
      const atMs = /^\d{13}$/.test(timestamp) ? Number(timestamp) : Number.NaN
      // The signature is checked first, because an unsigned timestamp proves nothing.
      if (!equal(signature, signV3(request, timestamp, clientSecret)))
        throw refuse('hubspot_wrong_signature', 'the signature does not match the request')
      if (!(nowMs - atMs <= maxAgeMs)) throw refuse('hubspot_stale', 'the request was signed too long ago')
      if (atMs - nowMs > skewMs) throw refuse('hubspot_future', 'the request was signed in the future')
      const digest = createHash('sha256').update(`hubspot|${signature}`).digest('hex')
      if (!(await nonces.use(digest, new Date(atMs + maxAgeMs + skewMs))))
        throw refuse('hubspot_replayed', 'this request was received before', 403)
      return { kind: 'system', name: 'hubspot', releaseNonce: () => nonces.giveBack(digest) }
    },
  }
}

/** Returns HMAC-SHA256 over method, decoded URI, body and timestamp, in base64. */
function signV3({ method, uri, body }: AuthenticationRequest, timestamp: string, secret: string): string {
  return createHmac('sha256', secret)
    .update(`${method}${decodedUri(uri)}${body}${timestamp}`)
    .digest('base64')
}

/** The only sequences that HubSpot decodes before it signs. */
const decoded: Record<string, string> = {
  '%3A': ':',
  '%2F': '/',
  '%3F': '?',
  '%40': '@',
  '%21': '!',
  '%24': '$',
  '%27': "'",
  '%28': '(',
  '%29': ')',
  '%2A': '*',
  '%2C': ',',
  '%3B': ';',
}

export function decodedUri(uri: string): string {
  return uri.replace(/%[0-9A-Fa-f]{2}/g, (code) => decoded[code.toUpperCase()] ?? code)
}

/** Checks SHA-256 over secret, method, URI as sent, and body, in hex. */
function checkV2({ method, uri, body, headers }: AuthenticationRequest, secret: string): void {
  const signature = headers.get('x-hubspot-signature')
  if (signature === null) throw refuse('hubspot_unsigned', 'the header X-HubSpot-Signature is missing')
  const version = headers.get('x-hubspot-signature-version')
  if (version !== 'v2')
    throw refuse('hubspot_wrong_version', 'only the signature versions v2 and v3 are accepted')
  const expected = createHash('sha256').update(`${secret}${method}${uri}${body}`).digest('hex')
  if (!equal(signature, expected))
    throw refuse('hubspot_wrong_signature', 'the signature does not match the request')
}

/** Compares in constant time: both sides are hashed to the same length first. */
export function equal(given: string, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(given), hash(expected))
}
