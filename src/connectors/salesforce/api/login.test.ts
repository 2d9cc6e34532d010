import { createVerify, generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { ConfigError, RetriableError } from '../../../domain/errors.ts'
import { createLogin, signAssertion } from './login.ts'
import { NoAnswerError, type SalesforceTransport, type WireRequest } from './transport.ts'

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const nowMs = Date.UTC(2026, 10, 20, 12)

function answering(statusCode: number, body: unknown): SalesforceTransport & { sent: WireRequest[] } {
  const sent: WireRequest[] = []
  return {
    sent,
    async send(request) {
      sent.push(request)
      return { statusCode, headers: {}, body: typeof body === 'string' ? body : JSON.stringify(body) }
    },
    forJsforce: () => ({}),
    close: async () => {},
  }
}

const granted = {
  access_token: '00D!token',
  instance_url: 'https://norvik.my.salesforce.com/',
  id: 'https://login.salesforce.com/id/00DWx0000000XY1MAM/005Wx0000000A1BIAU',
}
const auth = { kind: 'client_credentials', clientId: 'id', clientSecret: 's3cret' } as const
const loginUrl = 'https://norvik.my.salesforce.com/'
const login = (transport: SalesforceTransport) => createLogin({ loginUrl, auth, now: () => nowMs })(transport)

describe('a login', () => {
  test('asks the token endpoint of the My Domain with a form', async () => {
    const transport = answering(200, granted)
    expect(await login(transport)).toEqual({
      accessToken: '00D!token',
      instanceUrl: 'https://norvik.my.salesforce.com',
      orgId: '00DWx0000000XY1MAM',
      userId: '005Wx0000000A1BIAU',
    })
    expect(transport.sent).toMatchObject([
      { method: 'POST', url: 'https://norvik.my.salesforce.com/services/oauth2/token' },
    ])
    expect(transport.sent[0]?.body).toBe('grant_type=client_credentials&client_id=id&client_secret=s3cret')
  })

  test('with a key sends an assertion that is signed, short-lived and made out to the My Domain', async () => {
    const transport = answering(200, granted)
    const privateKeyPem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
    await createLogin({
      loginUrl,
      auth: { kind: 'jwt_bearer', clientId: 'id', username: 'it@norvik.example', privateKeyPem },
      now: () => nowMs,
    })(transport)
    const assertion = new URLSearchParams(transport.sent[0]?.body as string).get('assertion') ?? ''
    const [header = '', claims = '', signature = ''] = assertion.split('.')
    const decode = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString())
    expect(decode(header)).toEqual({ alg: 'RS256', typ: 'JWT' })
    expect(decode(claims)).toEqual({
      iss: 'id',
      sub: 'it@norvik.example',
      aud: 'https://norvik.my.salesforce.com',
      exp: nowMs / 1000 + 180,
    })
    const verifier = createVerify('RSA-SHA256').update(`${header}.${claims}`)
    expect(verifier.verify(publicKey, signature, 'base64url')).toBe(true)
  })

  test.each([
    ['invalid_client', 'SALESFORCE_CLIENT_SECRET'],
    ['invalid_client_id', 'SALESFORCE_CLIENT_ID'],
    ['something_new', 'login history'],
  ])('refused with %s says what to do', async (error, todo) => {
    const refused = login(answering(400, { error, error_description: 'said' }))
    await expect(refused).rejects.toThrow(ConfigError)
    await expect(refused).rejects.toThrow(todo)
  })

  test.each([
    [503, 'down'],
    [429, ''],
    [400, { error: 'server_error' }],
  ])('answered with %i is worth another try', async (status, body) => {
    await expect(login(answering(status, body))).rejects.toThrow(RetriableError)
  })

  test('without an answer is worth another try', async () => {
    const transport = { ...answering(200, granted), send: () => Promise.reject(new NoAnswerError('gone')) }
    await expect(login(transport)).rejects.toThrow(RetriableError)
  })

  test.each([['<html>a proxy</html>'], [{}], [{ ...granted, id: undefined }]])(
    'answered by something else than Salesforce is a mistake in the settings',
    async (body) => {
      await expect(login(answering(200, body))).rejects.toThrow(ConfigError)
    },
  )
})

test('a signature covers every claim', () => {
  const [, , one] = signAssertion({ iss: 'a' }, privateKey).split('.')
  const [, , other] = signAssertion({ iss: 'b' }, privateKey).split('.')
  expect(one).not.toBe(other)
})
