/**
 * HubSpot's documentation of its signatures, written down apart from our own code: by the platform's Web
 * Crypto, over bytes put together one by one.
 */

const encoder = new TextEncoder()

/** The table of the documentation: these are decoded in the URI before it is signed, and no others. */
const table: [string, string][] = [
  ['%3A', ':'],
  ['%2F', '/'],
  ['%3F', '?'],
  ['%40', '@'],
  ['%21', '!'],
  ['%24', '$'],
  ['%27', "'"],
  ['%28', '('],
  ['%29', ')'],
  ['%2A', '*'],
  ['%2C', ','],
  ['%3B', ';'],
]

export interface Signed {
  method: string
  uri: string
  body: string
  atMs: number
}

async function signV3(secret: string, { method, uri, body, atMs }: Signed): Promise<string> {
  let readable = uri
  for (const [code, sign] of table) readable = readable.split(code).join(sign)
  const key = await crypto.subtle.importKey(
    'raw',
    encoder.encode(secret),
    { name: 'HMAC', hash: 'SHA-256' },
    false,
    ['sign'],
  )
  const bytes = await crypto.subtle.sign('HMAC', key, encoder.encode(method + readable + body + String(atMs)))
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
}

export async function signV2(secret: string, { method, uri, body }: Omit<Signed, 'atMs'>): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', encoder.encode(secret + method + uri + body))
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export async function v3Headers(secret: string, signed: Signed): Promise<Record<string, string>> {
  return {
    'x-hubspot-signature-v3': await signV3(secret, signed),
    'x-hubspot-request-timestamp': String(signed.atMs),
  }
}

export async function v2Headers(
  secret: string,
  signed: Omit<Signed, 'atMs'>,
): Promise<Record<string, string>> {
  return { 'x-hubspot-signature': await signV2(secret, signed), 'x-hubspot-signature-version': 'v2' }
}
