import { Challenge } from 'mppx'
import { describe, expect, test } from 'vitest'
import { readChallenges, readProblem, singleUseOf } from './challenge.ts'
import { readReceipt } from './receipt.ts'

const challenge = (change: Partial<Challenge.Challenge> = {}) =>
  Challenge.from({
    id: 'one',
    realm: 'api.example',
    method: 'evm',
    intent: 'charge',
    request: { amount: '10000' },
    expires: '2026-05-01T00:05:00.900Z',
    ...change,
  } as Challenge.Challenge)
const text = Challenge.serialize(challenge())
const read = (header: string, status = 402) =>
  readChallenges({ status, headers: { 'www-authenticate': header }, body: '' })

describe('challenges in WWW-Authenticate', () => {
  test.each([
    ['one', text, ['one']],
    ['two', `${text}, ${Challenge.serialize(challenge({ id: 'two' }))}`, ['one', 'two']],
    ['the scheme in small letters', text.replace('Payment', 'payment'), ['one']],
    ['another scheme before', `Bearer realm="x", error="y", ${text}`, ['one']],
    ['another scheme after', `${text}, Bearer realm="x"`, ['one']],
    ['another scheme between', `${text}, Basic realm="x", ${text.replace('"one"', '"two"')}`, ['one', 'two']],
    ['a broken one before', `Payment id="x", ${text}`, ['one']],
    ['a broken one after', `${text}, Payment id="x", request="!"`, ['one']],
    ['a lot of space', text.replaceAll(', ', '  ,\t '), ['one']],
    ['none', 'Bearer realm="x"', []],
    ['an open string', text.slice(0, -1), []],
    ['a parameter twice', `${text}, id="two"`, []],
    ['nothing', '', []],
  ])('are read: %s', (_, header, ids) => {
    expect(read(header).map(({ challenge }) => challenge.id)).toEqual(ids)
  })

  test('may hold the scheme, quotes, commas and other alphabets inside a string', () => {
    const description = 'a "Payment id=1", Payment id="2" \\ for 0,01 – ключ'
    const header = `${Challenge.serialize(challenge({ description } as never))}, ${text}`
    expect(read(header).map(({ challenge }) => challenge.description)).toEqual([description, undefined])
  })

  test('count on a 402 alone', () => {
    expect(read(text, 401)).toEqual([])
  })

  test('keep their own text, from which the same challenge is read again', () => {
    const [found] = read(`Basic realm="x", ${text}`)
    expect(found?.text).toBe(text)
    const second = text.replace('"one"', '"two"')
    expect(read(`${text}, ${second}`).map((each) => each.text)).toEqual([text, second])
  })

  test('name realm, digest, end and header, in whole seconds and small letters', () => {
    expect(singleUseOf(challenge())).toEqual({
      realm: 'api.example',
      digest: null,
      expiresAt: Date.UTC(2026, 4, 1, 0, 5) / 1000,
      header: 'authorization',
    })
    const { expires: _, ...endless } = challenge({ digest: 'sha-256=x', header: 'Payment-Authorization' })
    expect(singleUseOf(endless)).toEqual({
      realm: 'api.example',
      digest: 'sha-256=x',
      expiresAt: null,
      header: 'payment-authorization',
    })
  })
})

describe('what the server says of the money', () => {
  const hash = `0x${'Ab'.repeat(32)}`
  const receipt = (change: object = {}) =>
    Buffer.from(
      JSON.stringify({
        method: 'evm',
        reference: hash,
        status: 'success',
        timestamp: '2026-05-01T00:00:00Z',
        ...change,
      }),
    ).toString('base64url')
  const of = (header: string, status = 200) =>
    readReceipt({ status, headers: { 'payment-receipt': header }, body: '' }, 'evm')

  test.each([
    ['a receipt', receipt(), 200, { success: true, transaction: hash.toLowerCase(), reason: null }],
    [
      'a hash with more',
      receipt({ reference: `${hash}0` }),
      200,
      { success: true, transaction: null, reason: null },
    ],
    [
      'more before a hash',
      receipt({ reference: ` ${hash}` }),
      200,
      { success: true, transaction: null, reason: null },
    ],
    ['no hash', receipt({ reference: 'x' }), 200, { success: true, transaction: null, reason: null }],
    [
      'another method',
      receipt({ method: 'tempo' }),
      200,
      { success: false, reason: 'receipt_of_other_method' },
    ],
    ['another status', receipt({ status: 'failed' }), 200, { success: false, reason: 'unreadable_receipt' }],
    ['no JSON', 'e30x', 200, { success: false, reason: 'unreadable_receipt' }],
    ['a receipt on a refusal', receipt(), 402, { success: false, transaction: null, reason: null }],
  ])('is read from %s', (_, header, status, expected) => {
    expect(of(header, status)).toMatchObject(expected)
  })

  test('is nothing where the answer holds no receipt, or is an error', () => {
    expect(readReceipt({ status: 200, headers: {}, body: '{}' }, 'evm')).toBeUndefined()
    expect(of(receipt(), 500)).toBeUndefined()
  })

  test.each([
    ['Payment verification failed: settlement_pending.', 'verification_failed: settlement_pending'],
    ['reverted: authorization is used or canceled', 'verification_failed: nonce_already_used'],
    ['reverted: transfer amount exceeds balance', 'verification_failed: insufficient_balance'],
    ['Transfer Amount Exceeds Balance', 'verification_failed: insufficient_balance'],
    ['Insufficient funds for gas', 'verification_failed: insufficient_balance'],
    ['insufficient_balance', 'verification_failed: insufficient_balance'],
    ['Nonce Already Used', 'verification_failed: nonce_already_used'],
    [`args: (${hash}, 28)`, 'verification_failed'],
    [7, 'verification_failed'],
  ])('of a problem keeps a word and no text: %s', (detail, reason) => {
    const type = 'https://paymentauth.org/problems/verification-failed'
    expect(readProblem({ status: 402, headers: {}, body: JSON.stringify({ type, detail }) })).toEqual({
      success: false,
      transaction: null,
      reason,
    })
  })
})
