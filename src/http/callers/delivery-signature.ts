import { createHmac } from 'node:crypto'
import { type AuthenticationRequest, refuse } from '../server/caller.ts'
import { equal } from './hubspot.ts'

/** The way in which a service signs its deliveries. Its scheme is not shown, so every part of it is a setting. */
export interface DeliverySignature {
  header: string
  algorithm: 'sha256' | 'sha512' | 'sha1'
  encoding: 'hex' | 'base64'
  /** Stands before the signature, such as `sha256=`. */
  prefix: string
  /** Set: the timestamp is signed too, as `timestamp.body`. */
  timestampHeader?: string | undefined
  toleranceMs: number
}

const millisecondsFrom = 100_000_000_000

/** Throws `CallRefused` for a delivery that is not signed as declared. Its body is read only after this. */
export function checkDeliverySignature(
  { headers, body }: AuthenticationRequest,
  settings: DeliverySignature,
  { secret, now }: { secret: string | undefined; now: () => Date },
): void {
  const { header, algorithm, encoding, prefix, timestampHeader, toleranceMs } = settings
  if (secret === undefined)
    throw refuse('monitor_not_set_up', 'http.monitor.signature needs PAYDIRT_MONITOR_SIGNING_SECRET', 404)
  const given = headers.get(header)
  if (given === null) throw refuse('monitor_unsigned', `the header ${header} is missing`)
  const timestamp = timestampHeader === undefined ? null : headers.get(timestampHeader)
  if (timestampHeader !== undefined && timestamp === null)
    throw refuse('monitor_no_timestamp', `the header ${timestampHeader} is missing`)
  const signed = timestamp === null ? body : `${timestamp}.${body}`
  const expected = prefix + createHmac(algorithm, secret).update(signed).digest(encoding)
  // The signature is checked first, because an unsigned timestamp proves nothing.
  if (!equal(given, expected))
    throw refuse('monitor_wrong_signature', 'the signature does not match the delivery')
  if (timestamp === null) return
  const awayMs = now().getTime() - momentOf(timestamp)
  if (!(awayMs <= toleranceMs)) throw refuse('monitor_stale', 'the delivery was signed too long ago')
  if (awayMs < -toleranceMs) throw refuse('monitor_future', 'the delivery was signed in the future')
}

/** Reads seconds or milliseconds since 1970, or a date with its time. Returns NaN for anything else. */
function momentOf(timestamp: string): number {
  if (!/^\d+$/.test(timestamp)) return Date.parse(timestamp)
  const number = Number(timestamp)
  return number >= millisecondsFrom ? number : number * 1_000
}
