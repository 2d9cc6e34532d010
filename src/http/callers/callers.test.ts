import { createHash, createHmac, generateKeyPairSync, sign as signBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { signV2, v2Headers, v3Headers, type Signed } from '../../../test/support/hubspot-signature.ts'
import type { NonceLedger } from '../../store/access/nonces.ts'
import { type AuthenticationRequest, CallRefused } from '../server/caller.ts'
import { decodedUri, hubspotAuthenticator } from './hubspot.ts'
import { monitorAuthenticator } from './monitor.ts'
import { salesforceAuthenticator } from './salesforce.ts'

const nowMs = Date.parse('2026-11-20T12:00:00Z')
const now = () => new Date(nowMs)
const secret = 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy'
const uri = 'https://www.example.com/webhook_uri'

function memoryReplays(): NonceLedger {
  const used = new Set<string>()
  return {
    use: async (digest) => !used.has(digest) && Boolean(used.add(digest)),
    giveBack: async (digest) => void used.delete(digest),
    prune: async () => {},
  }
}

function request(
  headers: Record<string, string>,
  more: Partial<AuthenticationRequest> = {},
): AuthenticationRequest {
  return { method: 'POST', uri, body: '{"a":1}', headers: new Headers(headers), ...more }
}

async function codeOf(opening: Promise<unknown>): Promise<string> {
  return opening.then(
    () => 'let in',
    (error: unknown) => (error instanceof CallRefused ? error.code : `threw ${String(error)}`),
  )
}

describe('the independent signature of the tests', () => {
  test('gives what HubSpot’s documentation gives for its examples of version 2', async () => {
    expect(await signV2(secret, { method: 'GET', uri, body: '' })).toBe(
      'eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e',
    )
    expect(await signV2(secret, { method: 'POST', uri, body: '{"example_field":"example_value"}' })).toBe(
      '9569219f8ba981ffa6f6f16aa0f48637d35d728c7e4d93d0d52efaa512af7900',
    )
  })
})

describe('a call signed as HubSpot signs version 3', () => {
  const door = (replays = memoryReplays()) =>
    hubspotAuthenticator({ clientSecret: secret, nonces: replays, now })
  const signed = async (more: Partial<Signed> = {}) =>
    request(await v3Headers(secret, { method: 'POST', uri, body: '{"a":1}', atMs: nowMs, ...more }))

  test('is let in once, and once more only after a fault of ours', async () => {
    const own = door()
    const caller = await own.authenticate(await signed())
    expect(caller).toMatchObject({ kind: 'system', name: 'hubspot' })
    expect(await codeOf(own.authenticate(await signed()))).toBe('hubspot_replayed')
    if (caller.kind === 'system') await caller.releaseNonce?.()
    expect(await codeOf(own.authenticate(await signed()))).toBe('let in')
  })

  test.each([
    [-5 * 60_000, 'let in'],
    [-5 * 60_000 - 1, 'hubspot_stale'],
    [-6 * 60_000, 'hubspot_stale'],
    [10_000, 'let in'],
    [10_001, 'hubspot_future'],
    [6 * 60_000, 'hubspot_future'],
  ])('signed %i ms from now: %s', async (ms, code) => {
    expect(await codeOf(door().authenticate(await signed({ atMs: nowMs + ms })))).toBe(code)
  })

  test.each([
    ['the method', { method: 'PUT' }],
    ['the path', { uri: 'https://www.example.com/webhook_uri2' }],
    ['the host', { uri: 'https://www.example.org/webhook_uri' }],
    ['the scheme', { uri: 'http://www.example.com/webhook_uri' }],
    ['the query', { uri: `${uri}?a=1` }],
    ['a byte of the body', { body: '{"a":2}' }],
    ['a byte more', { body: '{"a":1} ' }],
  ])('is refused when %s is another', async (_, more) => {
    const { headers } = await signed()
    expect(await codeOf(door().authenticate({ ...request({}), headers, ...more }))).toBe(
      'hubspot_wrong_signature',
    )
  })

  test.each(['', 'NaN', '1e12', ' ', '17636400000000', '0x19AA0F2E880'])(
    'time %j is no time',
    async (time) => {
      const key = createHmac('sha256', secret).update(`POST${uri}{"a":1}${time.trim()}`).digest('base64')
      const headers = { 'x-hubspot-signature-v3': key, 'x-hubspot-request-timestamp': time }
      expect(await codeOf(door().authenticate(request(headers)))).toMatch(/^hubspot_(stale|wrong_signature)$/)
    },
  )

  test('is let in whatever its query holds, as far as the documentation decodes it', async () => {
    const long = `${uri}?userEmail=a%2Bb%40example.com&x=%21%24%27%28%29%2A%2C%3A%3B%2F%3F&y=%C3%BC%20%26%3D%23&portalId=1`
    const headers = await v3Headers(secret, { method: 'POST', uri: long, body: '{"a":1}', atMs: nowMs })
    expect(await codeOf(door().authenticate(request(headers, { uri: long })))).toBe('let in')
    expect(decodedUri('%2f%2F%2b%2B%3d')).toBe('//%2b%2B%3d')
  })

  test('a body of any language is signed in UTF-8', async () => {
    const body = '{"name":"北風工業 Ünï"}'
    const headers = await v3Headers(secret, { method: 'POST', uri, body, atMs: nowMs })
    expect(await codeOf(door().authenticate(request(headers, { body })))).toBe('let in')
  })

  test('without a secret of ours nobody is let in, and without a signature neither', async () => {
    const off = hubspotAuthenticator({ clientSecret: undefined, nonces: memoryReplays(), now })
    expect(await codeOf(off.authenticate(await signed()))).toBe('hubspot_not_set_up')
    expect(await codeOf(door().authenticate(request({})))).toBe('hubspot_unsigned')
  })

  test('version 2 is for workflows alone, and version 1 for nobody', async () => {
    const headers = await v2Headers(secret, { method: 'POST', uri, body: '{"a":1}' })
    expect(await codeOf(door().authenticate(request(headers)))).toBe('hubspot_unsigned')
    const workflow = hubspotAuthenticator({
      clientSecret: secret,
      nonces: memoryReplays(),
      now,
      allowsV2: true,
    })
    expect(await codeOf(workflow.authenticate(request(headers)))).toBe('let in')
    expect(await codeOf(workflow.authenticate(request(headers, { body: '{"a":2}' })))).toBe(
      'hubspot_wrong_signature',
    )
    const v1 = { ...headers, 'x-hubspot-signature-version': 'v1' }
    expect(await codeOf(workflow.authenticate(request(v1)))).toBe('hubspot_wrong_version')
    expect(await codeOf(workflow.authenticate(await signed()))).toBe('let in')
  })
})

describe('a call signed by HMAC with time and nonce', () => {
  const hookUri = 'https://paydirt.example/hooks/salesforce?x=1'
  const door = (own: string | undefined = secret, replays = memoryReplays()) =>
    salesforceAuthenticator({ secret: own, jwt: undefined, nonces: replays, now })

  function signed(
    more: { atS?: number; nonce?: string; body?: string; path?: string } = {},
  ): AuthenticationRequest {
    const { atS = nowMs / 1000, nonce = 'nonce-0001', body = '{"a":1}', path = '/hooks/salesforce' } = more
    const text = `${atS}.${nonce}.POST.${path}.${body}`
    const signature = createHmac('sha256', secret).update(text).digest('hex')
    return request(
      {
        'x-paydirt-timestamp': String(atS),
        'x-paydirt-nonce': nonce,
        'x-paydirt-signature': `v1=${signature}`,
      },
      { uri: hookUri, body },
    )
  }

  test('is let in once a nonce', async () => {
    const own = door()
    expect(await codeOf(own.authenticate(signed()))).toBe('let in')
    expect(await codeOf(own.authenticate(signed({ body: '{}' })))).toBe('salesforce_replayed')
    expect(await codeOf(own.authenticate(signed({ nonce: 'nonce-0002' })))).toBe('let in')
  })

  test.each([
    [{ atS: nowMs / 1000 - 301 }, 'salesforce_stale'],
    [{ atS: nowMs / 1000 + 11 }, 'salesforce_future'],
    [{ path: '/hooks/other' }, 'salesforce_wrong_signature'],
    [{ nonce: 'short' }, 'salesforce_unsigned'],
  ])('%j: %s', async (more, code) => {
    expect(await codeOf(door().authenticate(signed(more)))).toBe(code)
  })

  test('is refused with another body, without a signature, and where no secret is set', async () => {
    expect(await codeOf(door().authenticate({ ...signed(), body: '{"a":2}' }))).toBe(
      'salesforce_wrong_signature',
    )
    expect(await codeOf(door().authenticate(request({}, { uri: hookUri })))).toBe('salesforce_unsigned')
    const off = salesforceAuthenticator({ secret: undefined, jwt: undefined, nonces: memoryReplays(), now })
    expect(await codeOf(off.authenticate(signed()))).toBe('salesforce_not_set_up')
  })
})

describe('a call with a token of the org', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const issuer = 'https://example.my.salesforce.com'
  const digest = (body: string) => createHash('sha256').update(body).digest('hex')
  const base = {
    iss: issuer,
    aud: 'paydirt',
    exp: nowMs / 1000 + 120,
    jti: 'one',
    body_sha256: digest('{}'),
  }
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

  function token(claims: object, options: { key?: typeof privateKey; alg?: string } = {}): string {
    const text = `${part({ alg: options.alg ?? 'RS256', typ: 'JWT' })}.${part({ ...base, ...claims })}`
    return `${text}.${signBytes('sha256', Buffer.from(text), options.key ?? privateKey).toString('base64url')}`
  }

  function open(text: string, more: { replays?: NonceLedger; body?: string } = {}) {
    const { replays = memoryReplays(), body = '{}' } = more
    const door = salesforceAuthenticator({
      secret,
      jwt: { key: publicKey, issuer, audience: 'paydirt' },
      nonces: replays,
      now,
    })
    return codeOf(door.authenticate(request({ authorization: `Bearer ${text}` }, { body })))
  }

  test('is let in once', async () => {
    const replays = memoryReplays()
    expect(await open(token({}), { replays })).toBe('let in')
    expect(await open(token({}), { replays })).toBe('salesforce_replayed')
    expect(await open(token({ jti: 'two' }), { replays })).toBe('let in')
  })

  test.each([
    [{ aud: 'another' }, 'salesforce_wrong_audience'],
    [{ aud: ['another', 'paydirt'] }, 'let in'],
    [{ iss: 'https://evil.example' }, 'salesforce_wrong_issuer'],
    [{ exp: nowMs / 1000 - 60 }, 'salesforce_stale'],
    [{ exp: nowMs / 1000 + 400 }, 'salesforce_too_long'],
    [{ iat: nowMs / 1000 + 60 }, 'salesforce_future'],
    [{ exp: '2099' }, 'salesforce_wrong_signature'],
    [{ jti: undefined }, 'salesforce_wrong_signature'],
    [{ jti: '' }, 'salesforce_wrong_signature'],
    [{ body_sha256: undefined }, 'salesforce_wrong_signature'],
  ])('%j: %s', async (claims, code) => {
    expect(await open(token(claims))).toBe(code)
  })

  test('written in another way is the same token, or none', async () => {
    for (const jti of ['one', undefined]) {
      const replays = memoryReplays()
      const own = token({ jti })
      await open(own, { replays })
      for (const text of [`${own}=`, `${own}==`, `${own}!!`, `${own} `, own.replace(/\.([^.]*)$/, '.=$1')])
        expect([text.slice(-4), await open(text, { replays })]).not.toContain('let in')
    }
  })

  test('is for its own body', async () => {
    const claims = { body_sha256: digest('{"a":1}') }
    expect(await open(token(claims), { body: '{"a":1}' })).toBe('let in')
    expect(await open(token(claims), { body: '{"a":2}' })).toBe('salesforce_wrong_signature')
  })

  test('another key, another algorithm or no signature is no token', async () => {
    expect(await open(token({}, { key: other }))).toBe('salesforce_wrong_signature')
    expect(await open(token({}, { alg: 'none' }))).toBe('salesforce_wrong_signature')
    expect(await open(token({}, { alg: 'RS512' }))).toBe('salesforce_wrong_signature')
    // The public key taken for a shared secret.
    const text = `${part({ alg: 'HS256' })}.${part(base)}`
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const forged = createHmac('sha256', pem).update(text).digest('base64url')
    expect(await open(`${text}.${forged}`)).toBe('salesforce_wrong_signature')
    expect(await open(`${text}.`)).toBe('salesforce_wrong_signature')
    expect(await open('x')).toBe('salesforce_wrong_signature')
  })
})

test.each([
  [{ 'x-secret': secret }, 'let in'],
  [{ 'x-secret': `${secret} x` }, 'monitor_wrong_secret'],
  [{ 'x-other': secret }, 'monitor_no_secret'],
])('a monitor’s delivery with %j: %s', async (headers, code) => {
  expect(
    await codeOf(
      monitorAuthenticator({ header: 'x-secret', secret }).authenticate(request(headers as never)),
    ),
  ).toBe(code)
  const off = monitorAuthenticator({ header: 'x-secret', secret: undefined })
  expect(await codeOf(off.authenticate(request(headers as never)))).toBe('monitor_not_set_up')
})
