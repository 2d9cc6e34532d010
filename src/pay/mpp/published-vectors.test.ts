import { describe, expect, test } from 'vitest'
import { readChallenges } from './challenge.ts'

// The situations of the protocol's public conformance suite (tempoxyz/mpp-tools, conformance/vectors/www-authenticate), with
// challenges of our own method. The expectation is the suite's; only how several challenges share a header is ours.

const required = {
  id: 'ch_1',
  realm: 'api.example',
  method: 'evm',
  intent: 'charge',
  request: 'eyJhbW91bnQiOiIxMDAwMCJ9',
}
const header = (change: Record<string, string | undefined> = {}, more = '') =>
  `Payment ${Object.entries({ ...required, ...change })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}${more}`
const read = (text: string) =>
  readChallenges({ status: 402, headers: { 'www-authenticate': text }, body: '' }).map(
    ({ challenge }) => challenge,
  )
const parsed = { ...required, request: { amount: '10000' } }

describe('a challenge is read', () => {
  test.each<[string, string, object]>([
    ['with required fields only', header(), {}],
    [
      'with all optional fields',
      header({
        description: 'API access',
        digest: 'sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=',
        expires: '2026-01-29T12:05:00Z',
      }),
      {
        description: 'API access',
        digest: 'sha-256=X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=',
        expires: '2026-01-29T12:05:00Z',
      },
    ],
    ['with an empty request', header({ request: 'e30' }), { request: {} }],
    [
      'with a nested request',
      header({ request: 'eyJtZXRob2REZXRhaWxzIjp7ImNoYWluSWQiOjg0NTN9fQ' }),
      { request: { methodDetails: { chainId: 8453 } } },
    ],
    ['with escaped quotes', header({ description: 'Pay \\"premium\\"' }), { description: 'Pay "premium"' }],
    ['with escaped backslashes', header({ description: 'C:\\\\a\\\\b' }), { description: 'C:\\a\\b' }],
    [
      'with unescaped quotes, up to the first of them',
      header({}, ', description="Payment for "Premium" service"'),
      { description: 'Payment for ' },
    ],
    [
      'with the scheme’s name in its realm',
      header({ realm: 'contact Payment support' }),
      { realm: 'contact Payment support' },
    ],
    [
      'with the scheme’s name in its text',
      header({ description: 'by the Payment scheme' }),
      { description: 'by the Payment scheme' },
    ],
    ['with extra space', header().replaceAll(', ', ' ,  ').replace('Payment ', 'Payment  '), {}],
    [
      'in any order of its parameters',
      `Payment request="${required.request}", realm="api.example", intent="charge", id="ch_1", method="evm"`,
      {},
    ],
    ['with the scheme in small letters', header().replace('Payment', 'payment'), {}],
  ])('%s', (_, text, change) => {
    expect(read(text)).toMatchObject([{ ...parsed, ...change }])
  })

  test('with parameters that nobody knows', () => {
    expect(read(header({ foo: 'bar', baz: 'qux' }))).toMatchObject([parsed])
  })
})

test.each<[string, string]>([
  ['another scheme', 'Bearer token123'],
  ...Object.keys(required).map((name): [string, string] => [`no ${name}`, header({ [name]: undefined })]),
  ['a request that is no base64url', header({ request: 'not-valid!!!' })],
  ['a request that is no JSON', header({ request: 'bm90IGpzb24' })],
  ['an empty id', header({ id: '' })],
  ['a parameter twice', header({}, ', id="b"')],
  ['nothing', ''],
  ['the scheme alone', 'Payment'],
])('no challenge is read from %s', (_, text) => {
  expect(read(text)).toEqual([])
})

test('a text that is never closed is read in a moment', () => {
  const startMs = performance.now()
  for (const filler of ['\\', '"', ', ', 'Payment ', ',Payment x="'])
    read(header({}, `, fuzz="${filler.repeat(12_000)}`))
  expect(performance.now() - startMs).toBeLessThan(2_000)
})
