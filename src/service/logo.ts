import { createHash } from 'node:crypto'
import type { Fact } from '../domain/record.ts'
import { FatalError, RetriableError, type PaydirtError } from '../domain/errors.ts'
import { retryAfter } from '../domain/retry-after.ts'
import type { BinaryResponse, Transport } from './transport.ts'

export interface LogoOptions {
  /** Base address of the logo endpoint. The domain is appended to it. */
  logoUrl: string
  /**
   * `name: value` of the header that marks "no logo found". The service does not document the header, so it is a
   * setting.
   */
  placeholderHeader?: string | undefined
  timeoutMs?: number
}

/** `.invalid` can never be registered (RFC 2606), so the endpoint's answer for it is its placeholder. */
const impossibleDomain = 'no-such-company.invalid'

/**
 * `GET {logo_url}/{domain}` (service.md, 4.3): free, and always returns an image. The neutral placeholder for an
 * unknown domain is recognised by the configured header or by its bytes, and counts as not found.
 */
export function createLogoClient(transport: Pick<Transport, 'sendForBytes'>, options: LogoOptions) {
  const base = options.logoUrl.replace(/\/$/, '')
  let placeholder: Promise<string | undefined> | undefined

  async function get(domain: string): Promise<BinaryResponse> {
    const url = `${base}/${encodeURIComponent(domain)}`
    return transport.sendForBytes({ method: 'GET', url, timeoutMs: options.timeoutMs ?? 15_000 })
  }

  /**
   * Learns the placeholder once per process. When that fails, the next lookup tries again: a guess would write
   * placeholders.
   */
  async function placeholderDigest(): Promise<string | undefined> {
    placeholder ??= learnPlaceholder().catch((error: unknown) => {
      placeholder = undefined
      throw error
    })
    return placeholder
  }

  /** Returns undefined where the endpoint answers an unknown domain with a 404. A refusal says nothing about it. */
  async function learnPlaceholder(): Promise<string | undefined> {
    const response = await get(impossibleDomain)
    if (response.status === 200) return digest(response.bytes)
    if (response.status === 404) return undefined
    throw logoError(response)
  }

  return {
    async lookup(domain: string): Promise<Fact> {
      const response = await get(domain)
      if (response.status === 404) return { outcome: 'not_found', data: null }
      if (response.status !== 200) throw logoError(response)
      if (!(response.headers['content-type'] ?? '').startsWith('image/')) {
        throw new RetriableError(
          'not_an_image',
          `the logo of ${domain} has the content type ${response.headers['content-type'] ?? '(none)'}`,
        )
      }
      if (marked(response, options.placeholderHeader)) return { outcome: 'not_found', data: null }
      if (digest(response.bytes) === (await placeholderDigest())) return { outcome: 'not_found', data: null }
      return { outcome: 'found', data: { url: `${base}/${encodeURIComponent(domain)}` } }
    },
  }
}

/**
 * The logo is free and optional. A refusal by the logo endpoint does not stop the run, unlike a refusal by the service.
 * A 429 of its fair-use limit counts as an attempt, so that retries end.
 */
function logoError(response: BinaryResponse): PaydirtError {
  const { status, headers } = response
  if (status !== 429 && status < 500)
    return new FatalError('logo_refused', `the logo endpoint answered ${status}`)
  const retryAfterMs = retryAfter(headers, Date.now())
  const message = `the logo endpoint answered ${status}`
  return new RetriableError('logo_failed', message, { retryAfterMs })
}

function marked(response: BinaryResponse, header: string | undefined): boolean {
  if (!header) return false
  const [name = '', ...value] = header.split(':')
  return response.headers[name.trim().toLowerCase()] === value.join(':').trim()
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
