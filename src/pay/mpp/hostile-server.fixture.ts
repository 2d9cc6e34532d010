import { Challenge } from 'mppx'
import fc from 'fast-check'
import type { Protocol } from '../../domain/payment.ts'
import { basePolicy } from '../limits/spending-policy.ts'

// Changes that a hostile server makes to a challenge before it signs it again.

export const secretKey = 'the secret of a server that means no good'
export const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'
const stranger = '0x00000000000000000000000000000000DeaDBeef'
export const realm = 'api.example'
export const nowMs = Date.now()
const inSeconds = (seconds: number) => new Date(nowMs + seconds * 1000).toISOString()

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
export const responses = fc.record({
  challenges: fc.array(one, { minLength: 1, maxLength: 3 }),
  between,
  before: fc.constantFrom('', '', '', 'Bearer realm="x", ', 'Basic, ', 'Payment ', '",'),
  order: fc.constantFrom<Protocol[]>(['mpp'], ['mpp', 'mpp_card'], ['mpp_card', 'mpp'], ['mpp_card']),
})

type Fields = Record<string, unknown>
type Fuzzed = typeof one extends fc.Arbitrary<infer T> ? T : never

/** The text of a challenge: the official one, changed, and signed again with the server's secret. */
export function textOf(official: Challenge.Challenge, { isCard, changes, wound }: Fuzzed): string {
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
