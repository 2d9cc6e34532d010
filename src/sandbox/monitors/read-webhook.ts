import { asObject, type BadRequest } from '../http/request-body.ts'
import { codes, refusal } from './codes.ts'

const MAX_URL = 2_048
const MAX_HEADERS = 10
/** Headers that the delivery itself sets, and those that belong to the connection. */
const reserved =
  /^(host|connection|content-length|content-type|transfer-encoding|user-agent|upgrade|expect|te|trailer|keep-alive|x-sandbox-.*)$/i

/** Returns a URL that a monitor may have: HTTPS, or HTTP on this machine, without credentials in it. */
export function readWebhookUrl(raw: unknown): string | BadRequest {
  const refused = (why: string) =>
    refusal(codes.webhookUrl, `webhook_url ${why}`, { parameter: 'webhook_url' })
  if (typeof raw !== 'string' || raw.length > MAX_URL || !URL.canParse(raw)) {
    return refused(`must be a full URL of at most ${MAX_URL} characters`)
  }
  const { protocol, hostname, username, password } = new URL(raw)
  if (username !== '' || password !== '') return refused('must not contain credentials')
  if (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))) return raw
  return refused('must start with https://')
}

export function readWebhookHeaders(raw: unknown): Record<string, string> | BadRequest {
  const given = asObject(raw)
  const entries = Object.entries(given ?? {})
  const isFine =
    given !== null &&
    entries.length <= MAX_HEADERS &&
    entries.every(
      ([name, value]) =>
        /^[\w!#$%&'*+.^`|~-]+$/.test(name) &&
        !reserved.test(name) &&
        typeof value === 'string' &&
        /^[\x20-\x7e]{1,1000}$/.test(value),
    )
  if (isFine) return given as Record<string, string>
  const message = `webhook_headers must be an object of at most ${MAX_HEADERS} headers that a delivery does not set itself`
  return refusal(codes.webhookHeaders, message, { parameter: 'webhook_headers' })
}

/** Returns whether a URL's host is this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname)
}
