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

function memoryNonces(): NonceLedger {
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

async function codeOf(authentication: Promise<unknown>): Promise<string> {
  return authentication.then(
    () => 'accepted',
    (error: unknown) => (error instanceof CallRefused ? error.code : `threw ${String(error)}`),
  )
}

describe('the independent signature of the tests', () => {
  test('matches the examples of version 2 in HubSpot’s documentation', async () => {
    expect(await signV2(secret, { method: 'GET', uri, body: '' })).toBe(
      'eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e',
    )
    expect(await signV2(secret, { method: 'POST', uri, body: '{"example_field":"example_value"}' })).toBe(
      '9569219f8ba981ffa6f6f16aa0f48637d35d728c7e4d93d0d52efaa512af7900',
    )
  })
})

describe('a call signed as HubSpot signs version 3', () => {
  const authenticator = (nonces = memoryNonces()) =>
    hubspotAuthenticator({ clientSecret: secret, nonces, now })
  const signed = async (more: Partial<Signed> = {}) =>
    request(await v3Headers(secret, { method: 'POST', uri, body: '{"a":1}', atMs: nowMs, ...more }))

  test('is accepted once, and once more only after a fault of ours', async () => {
    const own = authenticator()
    const caller = await own.authenticate(await signed())
    expect(caller).toMatchObject({ kind: 'system', name: 'hubspot' })
    expect(await codeOf(own.authenticate(await signed()))).toBe('hubspot_replayed')
    if (caller.kind === 'system') await caller.releaseNonce?.()
    expect(await codeOf(own.authenticate(await signed()))).toBe('accepted')
  })

  test.each([
    [-5 * 60_000, 'accepted'],
    [-5 * 60_000 - 1, 'hubspot_stale'],
    [-6 * 60_000, 'hubspot_stale'],
    [10_000, 'accepted'],
    [10_001, 'hubspot_future'],
    [6 * 60_000, 'hubspot_future'],
  ])('signed %i ms from now: %s', async (ms, code) => {
    expect(await codeOf(authenticator().authenticate(await signed({ atMs: nowMs + ms })))).toBe(code)
  })

  test.each([
    ['the method', { method: 'PUT' }],
    ['the path', { uri: 'https://www.example.com/webhook_uri2' }],
    ['the host', { uri: 'https://www.example.org/webhook_uri' }],
    ['the scheme', { uri: 'http://www.example.com/webhook_uri' }],
    ['the query', { uri: `${uri}?a=1` }],
    ['a byte of the body', { body: '{"a":2}' }],
    ['an additional byte', { body: '{"a":1} ' }],
  ])('is refused when %s differs', async (_, more) => {
    const { headers } = await signed()
    expect(await codeOf(authenticator().authenticate({ ...request({}), headers, ...more }))).toBe(
      'hubspot_wrong_signature',
    )
  })

  test.each(['', 'NaN', '1e12', ' ', '17636400000000', '0x19AA0F2E880'])(
    'the timestamp %j is refused',
    async (time) => {
      const key = createHmac('sha256', secret).update(`POST${uri}{"a":1}${time.trim()}`).digest('base64')
      const headers = { 'x-hubspot-signature-v3': key, 'x-hubspot-request-timestamp': time }
      expect(await codeOf(authenticator().authenticate(request(headers)))).toMatch(
        /^hubspot_(stale|wrong_signature)$/,
      )
    },
  )

  test('is accepted with any query, decoded as the documentation says', async () => {
    const long = `${uri}?userEmail=a%2Bb%40example.com&x=%21%24%27%28%29%2A%2C%3A%3B%2F%3F&y=%C3%BC%20%26%3D%23&portalId=1`
    const headers = await v3Headers(secret, { method: 'POST', uri: long, body: '{"a":1}', atMs: nowMs })
    expect(await codeOf(authenticator().authenticate(request(headers, { uri: long })))).toBe('accepted')
    expect(decodedUri('%2f%2F%2b%2B%3d')).toBe('//%2b%2B%3d')
  })

  test('a body is signed in UTF-8', async () => {
    const body = '{"name":"北風工業 Ünï"}'
    const headers = await v3Headers(secret, { method: 'POST', uri, body, atMs: nowMs })
    expect(await codeOf(authenticator().authenticate(request(headers, { body })))).toBe('accepted')
  })

  test('is refused without a client secret, and without a signature', async () => {
    const off = hubspotAuthenticator({ clientSecret: undefined, nonces: memoryNonces(), now })
    expect(await codeOf(off.authenticate(await signed()))).toBe('hubspot_not_set_up')
    expect(await codeOf(authenticator().authenticate(request({})))).toBe('hubspot_unsigned')
  })

  test('version 2 is accepted for workflows only, and version 1 never', async () => {
    const headers = await v2Headers(secret, { method: 'POST', uri, body: '{"a":1}' })
    expect(await codeOf(authenticator().authenticate(request(headers)))).toBe('hubspot_unsigned')
    const workflow = hubspotAuthenticator({
      clientSecret: secret,
      nonces: memoryNonces(),
      now,
      allowsV2: true,
    })
    expect(await codeOf(workflow.authenticate(request(headers)))).toBe('accepted')
    expect(await codeOf(workflow.authenticate(request(headers, { body: '{"a":2}' })))).toBe(
      'hubspot_wrong_signature',
    )
    const v1 = { ...headers, 'x-hubspot-signature-version': 'v1' }
    expect(await codeOf(workflow.authenticate(request(v1)))).toBe('hubspot_wrong_version')
    expect(await codeOf(workflow.authenticate(await signed()))).toBe('accepted')
  })
})

describe('a call signed by HMAC with time and nonce', () => {
  const hookUri = 'https://paydirt.example/hooks/salesforce?x=1'
  const authenticator = (own: string | undefined = secret, nonces = memoryNonces()) =>
    salesforceAuthenticator({ secret: own, jwt: undefined, nonces, now })

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

  test('is accepted once per nonce', async () => {
    const own = authenticator()
    expect(await codeOf(own.authenticate(signed()))).toBe('accepted')
    expect(await codeOf(own.authenticate(signed({ body: '{}' })))).toBe('salesforce_replayed')
    expect(await codeOf(own.authenticate(signed({ nonce: 'nonce-0002' })))).toBe('accepted')
  })

  test.each([
    [{ atS: nowMs / 1000 - 301 }, 'salesforce_stale'],
    [{ atS: nowMs / 1000 + 11 }, 'salesforce_future'],
    [{ path: '/hooks/other' }, 'salesforce_wrong_signature'],
    [{ nonce: 'short' }, 'salesforce_unsigned'],
  ])('%j: %s', async (more, code) => {
    expect(await codeOf(authenticator().authenticate(signed(more)))).toBe(code)
  })

  test('is refused with another body, without a signature, and when no secret is set', async () => {
    expect(await codeOf(authenticator().authenticate({ ...signed(), body: '{"a":2}' }))).toBe(
      'salesforce_wrong_signature',
    )
    expect(await codeOf(authenticator().authenticate(request({}, { uri: hookUri })))).toBe(
      'salesforce_unsigned',
    )
    const off = salesforceAuthenticator({ secret: undefined, jwt: undefined, nonces: memoryNonces(), now })
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

  function open(text: string, more: { nonces?: NonceLedger; body?: string } = {}) {
    const { nonces = memoryNonces(), body = '{}' } = more
    const authenticator = salesforceAuthenticator({
      secret,
      jwt: { key: publicKey, issuer, audience: 'paydirt' },
      nonces,
      now,
    })
    return codeOf(authenticator.authenticate(request({ authorization: `Bearer ${text}` }, { body })))
  }

  test('is accepted once', async () => {
    const nonces = memoryNonces()
    expect(await open(token({}), { nonces })).toBe('accepted')
    expect(await open(token({}), { nonces })).toBe('salesforce_replayed')
    expect(await open(token({ jti: 'two' }), { nonces })).toBe('accepted')
  })

  test.each([
    [{ aud: 'another' }, 'salesforce_wrong_audience'],
    [{ aud: ['another', 'paydirt'] }, 'accepted'],
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

  test('in another encoding is the same token, or invalid', async () => {
    for (const jti of ['one', undefined]) {
      const nonces = memoryNonces()
      const own = token({ jti })
      await open(own, { nonces })
      for (const text of [`${own}=`, `${own}==`, `${own}!!`, `${own} `, own.replace(/\.([^.]*)$/, '.=$1')])
        expect([text.slice(-4), await open(text, { nonces })]).not.toContain('accepted')
    }
  })

  test('is valid for its own body only', async () => {
    const claims = { body_sha256: digest('{"a":1}') }
    expect(await open(token(claims), { body: '{"a":1}' })).toBe('accepted')
    expect(await open(token(claims), { body: '{"a":2}' })).toBe('salesforce_wrong_signature')
  })

  test('is refused with another key, another algorithm or no signature', async () => {
    expect(await open(token({}, { key: other }))).toBe('salesforce_wrong_signature')
    expect(await open(token({}, { alg: 'none' }))).toBe('salesforce_wrong_signature')
    expect(await open(token({}, { alg: 'RS512' }))).toBe('salesforce_wrong_signature')
    // The public key, used as a shared secret.
    const text = `${part({ alg: 'HS256' })}.${part(base)}`
    const pem = publicKey.export({ type: 'spki', format: 'pem' })
    const forged = createHmac('sha256', pem).update(text).digest('base64url')
    expect(await open(`${text}.${forged}`)).toBe('salesforce_wrong_signature')
    expect(await open(`${text}.`)).toBe('salesforce_wrong_signature')
    expect(await open('x')).toBe('salesforce_wrong_signature')
  })
})

test.each([
  [{ 'x-secret': secret }, 'accepted'],
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
