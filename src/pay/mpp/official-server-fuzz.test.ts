import { Challenge, Credential } from 'mppx'
import { challengeHash } from 'mppx/evm'
import { Mppx, evm } from 'mppx/server'
import fc from 'fast-check'
import type { TypedDataDefinition } from 'viem'
import { privateKeyToAccount, type LocalAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { fuzzCases, testSeed } from '../../../test/support/seed.ts'
import { PaydirtError, PolicyDeniedError } from '../../domain/errors.ts'
import type { Protocol, ResponseHead } from '../../domain/payment.ts'
import { basePolicy, chooseTerms, type SpendingPolicy } from '../spending-policy.ts'
import { createMppCard, type TokenRequest } from './card.ts'
import { readChallenges } from './challenge.ts'
import { createMpp } from './protocol.ts'

// A hostile server: mppx's own, which makes and verifies every challenge, with up to three fields of each changed and
// signed again with the server's secret, so that it would accept them. What the wallet signs is judged twice: by the rules
// below, which share no code with the policy, and by what the server then settles.

const cases = fuzzCases(1_500)
const seed = testSeed()
const secretKey = 'the secret of a server that means no good'
const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'
const stranger = '0x00000000000000000000000000000000DeaDBeef'
const realm = 'api.example'
const nowMs = Date.now()
const asked = { url: `https://${realm}/companies/lookup`, body: '{"a":1}', nowMs }
const inSeconds = (seconds: number) => new Date(nowMs + seconds * 1000).toISOString()

const wallet: TypedDataDefinition[] = []
const real = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const account: LocalAccount = {
  ...real,
  async signTypedData(data) {
    wallet.push(data as unknown as TypedDataDefinition)
    return real.signTypedData(data)
  },
}
const tokens: TokenRequest[] = []
const policy: SpendingPolicy = {
  ...basePolicy,
  maxPriceAtomic: 10_000n,
  recipients: [payTo],
  cardProfiles: ['profile_1'],
  order: [],
}
const protocols = [
  createMpp({ account, chain: undefined, domain: basePolicy }),
  createMppCard({
    paymentMethod: 'pm_1',
    async createToken(request) {
      tokens.push(request)
      return `spt_${request.idempotencyKey}`
    },
  }),
]

/** The payments that the official server has verified and settled. */
const settled: { to: string; value: string; from: string }[] = []
const server = Mppx.create({
  realm,
  secretKey,
  methods: [
    evm.charge({
      chainId: 8453,
      currency: basePolicy.asset,
      decimals: 6,
      authorization: { name: 'USD Coin', version: '2' },
      recipient: payTo,
      async settle({ payload }) {
        settled.push(payload as never)
        return { reference: `0x${'ab'.repeat(32)}` }
      },
    }),
  ],
})
const route = { request: { amount: '0.01' } }

const amounts = [
  '0',
  '-10000',
  '010000',
  ' 10000',
  '10000 ',
  '10001',
  '20000',
  '5000',
  '1e4',
  '0x2710',
  '10000.0',
  '１００００',
  '9'.repeat(31),
  '9'.repeat(400),
  '',
  10_000,
  1e21,
  null,
  ['10000'],
  { toString: '10000' },
  true,
]
const addresses = [
  stranger,
  payTo.toLowerCase(),
  payTo.toUpperCase(),
  `${payTo}00`,
  payTo.slice(0, -1),
  `${payTo} `,
  ` ${payTo}`,
  basePolicy.asset,
  basePolicy.asset.toLowerCase(),
  basePolicy.asset.replace('d', 'D'),
  'usd',
  '',
  0,
  null,
  [payTo],
  `${payTo}\u0000`,
  'vitalik.eth',
  '0x',
]
const nonsense = [
  null,
  true,
  0,
  -1,
  Infinity,
  '',
  '\u0000',
  '\ud800',
  '\u202e',
  '__proto__',
  [],
  {},
  [[]],
  'x'.repeat(5_000),
]
const changesOf: Record<string, readonly unknown[]> = {
  'request.amount': amounts,
  'request.currency': addresses,
  'request.recipient': addresses,
  'request.payTo': addresses,
  'request.scheme': ['exact', 'upto', 'evm/charge'],
  'request.network': ['eip155:8453', 'eip155:1', 'base'],
  'request.maxAmountRequired': amounts,
  'request.paymentFlow': ['upfront', 'escrow', 'after', 'unsaid', ''],
  'request.expires': [inSeconds(31_536_000), '', 'never'],
  'request.methodDetails': nonsense,
  'request.methodDetails.chainId': [1, '8453', 8453.5, '0x2105', 84_532, 2 ** 53, null, [8453], -8453],
  'request.methodDetails.credentialTypes': [
    ['permit2'],
    ['permit2', 'authorization'],
    ['hash', 'transaction'],
    'authorization',
    [],
    null,
    {},
    [null],
  ],
  'request.methodDetails.decimals': [0, 2, 5, 7, 18, '6', 6.5, -6, null, 1e9],
  'request.methodDetails.splits': [[], [{ amount: '1', recipient: stranger }], {}, 'x', null, [null]],
  'request.methodDetails.authorization': [
    { name: 'USD Coin', version: '2' },
    { name: 'USDC', version: '2' },
    { name: 'USD Coin', version: '1' },
    {},
    null,
    'x',
  ],
  'request.methodDetails.paymentFlow': ['upfront', 'after', 'unsaid'],
  'request.methodDetails.spender': [stranger],
  'request.methodDetails.networkId': ['profile_1', 'profile_2', '', null],
  'request.methodDetails.paymentMethodTypes': [['card'], ['link'], 'card', null],
  'request.externalId': ['order 1', ...nonsense],
  'request.description': ['one lookup', ...nonsense],
  'request.constructor': [{ prototype: { amount: '1' } }],
  id: ['', 'x', 'a"b', 'x'.repeat(5_000)],
  realm: ['API.EXAMPLE', 'elsewhere.example', 'api.example:443', `${realm}.evil.example`, ` ${realm}`, ''],
  method: ['tempo', 'stripe', 'EVM', 'evm2', 'x402', ''],
  intent: ['session', 'subscription', 'Charge', 'authorize', ''],
  expires: [
    inSeconds(-1),
    inSeconds(5),
    inSeconds(20),
    inSeconds(599),
    inSeconds(700),
    inSeconds(31_536_000),
    '',
    'never',
    '+275760-09-13T00:00:00Z',
    '2026',
    String(nowMs / 1000 + 300),
    undefined,
  ],
  digest: ['sha-256=', 'sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=', 'sha-512=x', 'x'],
  header: [
    'Payment-Authorization',
    'Authorization',
    'X-Payment',
    'Cookie',
    'Host',
    'Idempotency-Key',
    'content-type',
    '',
  ],
  opaque: ['trace', 'e30', 'x'.repeat(3_000)],
  description: ['a "Payment id=1", Payment id="2"', 'C:\\path', 'ключ'],
}
type Change = readonly [path: string, value: unknown]
const change = fc
  .constantFrom(...Object.keys(changesOf))
  .chain((path) => fc.constantFrom(...changesOf[path]!).map((value): Change => [path, value]))
const scar = fc.option(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(12),
    insert: fc.string({ maxLength: 6 }),
  }),
  { freq: 1 },
)
const one = fc.record({
  isCard: fc.boolean(),
  changes: fc.array(change, { maxLength: 3 }),
  wound: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: scar }),
})
const between = fc.constantFrom(', ', ', ', ', ', ',', ' , ', ', Bearer realm="x", ', ', Basic, ', '",', ' ')
const responses = fc.record({
  challenges: fc.array(one, { minLength: 1, maxLength: 3 }),
  between,
  before: fc.constantFrom('', '', '', 'Bearer realm="x", ', 'Basic, ', 'Payment ', '",'),
  order: fc.constantFrom<Protocol[]>(['mpp'], ['mpp', 'mpp_card'], ['mpp_card', 'mpp'], ['mpp_card']),
})

type Fields = Record<string, unknown>
type Fuzzed = typeof one extends fc.Arbitrary<infer T> ? T : never

/** The text of a challenge: the official one, changed, and signed again with the server's secret. */
function textOf(official: Challenge.Challenge, { isCard, changes, wound }: Fuzzed): string {
  const base = isCard
    ? {
        method: 'stripe',
        request: {
          amount: '1',
          currency: 'usd',
          methodDetails: { networkId: 'profile_1', paymentMethodTypes: ['card'] },
        },
      }
    : { method: official.method, request: official.request }
  const fields: Fields = structuredClone({ realm, intent: 'charge', expires: inSeconds(300), ...base })
  for (const [path, value] of changes) set(fields, path.split('.'), value)
  const text = signed(fields) ?? written(fields)
  if (!wound) return text
  const at = Math.floor(wound.at * text.length)
  return text.slice(0, at) + wound.insert + text.slice(at + wound.cut)
}

function signed(fields: Fields): string | undefined {
  try {
    const { id, ...rest } = fields
    const challenge = Challenge.from({ secretKey, ...rest } as never)
    return Challenge.serialize(id === undefined ? challenge : ({ ...challenge, id } as never))
  } catch {
    return undefined
  }
}

/** As a server writes it that checks nothing. */
function written({ request, ...rest }: Fields): string {
  const parameters = Object.entries({ id: 'x', ...rest }).filter(([, value]) => typeof value === 'string')
  const json = Buffer.from(JSON.stringify(request)).toString('base64url')
  return `Payment ${parameters.map(([name, value]) => `${name}="${String(value)}"`).join(', ')}, request="${json}"`
}

function set(target: Fields, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    target[name] = value
    return
  }
  if (typeof target[name] !== 'object' || target[name] === null) target[name] = {}
  set(target[name] as Fields, rest, value)
}

test(`the official server with ${cases} hostile challenges gets nothing signed outside the policy (seed ${seed})`, async () => {
  const official = await server.challenge.evm.charge({ amount: '0.01' })
  const count = { refused: 0, signed: 0, settled: 0, cards: 0, unbuilt: 0 }
  await fc.assert(
    fc.asyncProperty(responses, async ({ challenges, between: gap, before, order }) => {
      const header = before + challenges.map((each) => textOf(official, each)).join(gap)
      const head: ResponseHead = { status: 402, headers: { 'www-authenticate': header }, body: '{}' }
      const offers = protocols.flatMap((protocol) => protocol.offers(head))
      let terms
      try {
        terms = chooseTerms(offers, { ...policy, order }, () => undefined, asked)
      } catch (error) {
        expect(error).toBeInstanceOf(PolicyDeniedError)
        count.refused += 1
        return
      }
      expect(order).toContain(terms.protocol)
      const protocol = protocols.find(({ name }) => name === terms.protocol)!
      const authorization = protocol.draw(terms, { seed: 'fuzz', nowMs, lifetimeSeconds: 300 })
      const headers = await protocol.headers(authorization).catch((error: unknown) => {
        // Whether it was signed or not, nothing was sent.
        expect(error).toBeInstanceOf(PaydirtError)
        count.unbuilt += 1
        return {}
      })
      const signatures = wallet.splice(0)
      const drawn = tokens.splice(0)
      expect(signatures.length + drawn.length).toBeLessThanOrEqual(1)
      for (const data of signatures) expectTransfer(data, authorization.nonce)
      for (const token of drawn) expectToken(token)
      const [name, ...others] = Object.keys(headers).filter((each) => each !== 'idempotency-key')
      expect(others).toEqual([])
      if (name === undefined) return
      expect(name).toMatch(/^(authorization|x-payment|payment(-authorization)?)$/)
      const credential = Credential.deserialize((headers as Record<string, string>)[name]!)
      if (terms.protocol === 'mpp_card') {
        count.cards += 1
        return
      }
      count.signed += 1
      expect(challengeHash(credential.challenge)).toBe(authorization.nonce)
      const receipt = await server.broadcastCredential(credential, route).catch(() => undefined)
      if (!receipt) return
      count.settled += 1
      expect(settled.splice(0)).toMatchObject([{ from: real.address, to: payTo, value: '10000' }])
    }),
    { numRuns: cases, seed },
  )
  expect(settled).toEqual([])
  process.stderr.write(`hostile MPP challenges, seed ${seed}: ${JSON.stringify(count)}\n`)
  // A fuzz test that never passes the first check proves nothing.
  expect(count.signed).toBeGreaterThan(cases / 10)
  expect(count.settled).toBeGreaterThan(cases / 12)
  expect(count.cards).toBeGreaterThan(cases / 12)
  expect(count.refused).toBeGreaterThan(cases / 4)
}, 300_000)

test(`every header that mppx reads is read as mppx reads it (seed ${seed})`, async () => {
  const official = await server.challenge.evm.charge({ amount: '0.01' })
  let read = 0
  fc.assert(
    fc.property(responses, ({ challenges, between: gap, before }) => {
      const header = before + challenges.map((each) => textOf(official, each)).join(gap)
      const ours = readChallenges({ status: 402, headers: { 'www-authenticate': header }, body: '' })
      let theirs: Challenge.Challenge[]
      try {
        theirs = Challenge.deserializeList(header)
      } catch {
        // One that mppx cannot read hides the others from it, and not from us.
        return
      }
      read += 1
      expect(ours.map(({ challenge }) => challenge)).toEqual(theirs)
    }),
    { numRuns: 1_000, seed },
  )
  expect(read).toBeGreaterThan(250)
}, 60_000)

function expectTransfer({ primaryType, domain, message }: TypedDataDefinition, nonce: string): void {
  expect(primaryType).toBe('TransferWithAuthorization')
  expect(domain).toEqual({
    name: 'USD Coin',
    version: '2',
    chainId: 8453,
    verifyingContract: expect.stringMatching(new RegExp(`^${basePolicy.asset}$`, 'i')),
  })
  const { value, validBefore, ...rest } = message as Record<string, unknown>
  expect(rest).toEqual({ from: real.address, to: payTo, nonce, validAfter: 0n })
  expect(Number(value)).toBeGreaterThan(0)
  expect(Number(value)).toBeLessThanOrEqual(10_000)
  expect(Number(validBefore)).toBeGreaterThan(nowMs / 1000)
  expect(Number(validBefore)).toBeLessThanOrEqual(nowMs / 1000 + 600)
}

function expectToken(token: TokenRequest): void {
  expect(token).toMatchObject({ amount: '1', currency: 'usd', networkId: 'profile_1', paymentMethod: 'pm_1' })
  expect(token.expiresAt).toBeLessThanOrEqual(nowMs / 1000 + 600)
}
