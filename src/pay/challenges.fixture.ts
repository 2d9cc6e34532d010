import fc from 'fast-check'
import type { Protocol, ResponseHead } from '../domain/payment.ts'
import { basePolicy } from './limits/spending-policy.ts'

// Challenges, receipts and refusals as a server might send them: honest ones with up to two places changed, cut or
// overwritten, in every location where they may occur, and some noise.

export const asked = {
  url: 'https://api.example/companies/lookup',
  body: '{"a":1}',
  nowMs: Date.UTC(2026, 4, 1),
}
export const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'
const stranger = '0x00000000000000000000000000000000DeaDBeef'

const accepted = {
  scheme: 'exact',
  network: 'eip155:8453',
  asset: basePolicy.asset,
  payTo,
  amount: '10000',
  maxTimeoutSeconds: 300,
  extra: { name: 'USD Coin', version: '2' },
}
const { amount, ...acceptedV1 } = accepted
const version2 = {
  x402Version: 2,
  error: 'payment required',
  resource: { url: asked.url, description: 'one lookup', mimeType: 'application/json' },
  accepts: [accepted],
  extensions: { 'payment-identifier': { info: { required: false }, schema: {} } },
}
const version1 = {
  x402Version: 1,
  error: '',
  accepts: [
    {
      ...acceptedV1,
      network: 'base',
      maxAmountRequired: amount,
      resource: asked.url,
      description: '',
      mimeType: '',
      outputSchema: {},
    },
  ],
}
const evmRequest = {
  amount: '10000',
  currency: basePolicy.asset,
  recipient: payTo,
  description: 'one lookup',
  methodDetails: { chainId: 8453, credentialTypes: ['authorization'], decimals: 6 },
}
const cardRequest = {
  amount: '1',
  currency: 'usd',
  methodDetails: { networkId: 'profile_1', paymentMethodTypes: ['card'] },
}
const receipt = {
  method: 'evm',
  reference: `0x${'ab'.repeat(32)}`,
  status: 'success',
  timestamp: '2026-05-01T00:00:00Z',
}
const problem = {
  type: 'https://paymentauth.org/problems/verification-failed',
  title: 'Verification Failed',
  status: 402,
  detail: 'Payment verification failed: settlement_pending.',
}

/** JSON text that `JSON.stringify` would never write. */
const rawJson = [
  '1e400',
  '-1e400',
  '123456789012345678901234567890',
  '9'.repeat(400),
  '['.repeat(3000) + ']'.repeat(3000),
  `${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}`,
  `{"__proto__":{"payTo":"${stranger}","amount":"1"}}`,
  '{"constructor":{"prototype":{"scheme":"exact"}}}',
  '"\\ud800"',
  `"10000","amount":"99999999"`,
]
const nastyTexts = [
  ['', '0', '-10000', '10000 ', '20000', '5000000', '1e4', '0x2710', '010000', '１００００', '9'.repeat(400)],
  [stranger, payTo.toLowerCase(), basePolicy.asset.toLowerCase(), basePolicy.asset.toUpperCase()],
  ['eip155:84532', 'base-sepolia', 'eip155:8453 ', 'base', 'permit2', 'eip3009', 'upfront', 'after', 'upto'],
  ['\u0000', '\u202e', 'ключ', '💥'.repeat(20), '"', '\\', 'Payment id="x"', '__proto__', 'toString'],
]
const nasty = [null, true, false, 0, -1, 1, 0.5, 10_000, 2 ** 53, [], {}, [[]], ...nastyTexts.flat()]
const keys = [
  'amount',
  'payTo',
  'recipient',
  'paymentFlow',
  'splits',
  'assetTransferMethod',
  'authorization',
  'x',
]

type Change = { at: number; how: 'set' | 'raw' | 'drop' | 'add'; value: number; key: number }
const change = fc.record<Change>({
  at: fc.nat(60),
  how: fc.constantFrom('set', 'raw', 'drop', 'add'),
  value: fc.nat(200),
  key: fc.nat(keys.length - 1),
})
const changes = fc.oneof(
  { weight: 1, arbitrary: fc.constant<Change[]>([]) },
  fc.array(change, { maxLength: 2 }),
)
const scar = fc.option(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    cut: fc.nat(12),
    insert: fc.string({ unit: 'binary', maxLength: 8 }),
  }),
  { freq: 1 },
)
const parameterValues = [
  [
    '',
    'other',
    'evm',
    'stripe',
    'tempo',
    'charge',
    'session',
    'api.example',
    'API.EXAMPLE',
    'api.example:443',
  ],
  ['cookie', 'Payment-Authorization', 'X-Payment', 'host', '2026-05-01T00:04:00Z', '2027-05-01T00:00:00Z'],
  [
    '2026-04-30T23:59:59Z',
    '+275760-09-13T00:00:00Z',
    'sha-256=',
    'sha-512=x',
    'a\\"b',
    '\u00ff',
    '1'.repeat(3000),
  ],
]
const parameter = fc.record({
  name: fc.constantFrom(
    'id',
    'realm',
    'method',
    'intent',
    'expires',
    'digest',
    'header',
    'opaque',
    'x',
    '__proto__',
  ),
  value: fc.constantFrom(...parameterValues.flat()),
})
const parameters = fc.oneof(
  fc.constant<{ name: string; value: string }[]>([]),
  fc.array(parameter, { maxLength: 1 }),
)

export const orders = fc.constantFrom<Protocol[]>(
  ['x402', 'mpp', 'mpp_card'],
  ['mpp', 'x402'],
  ['mpp_card', 'mpp'],
  ['mpp_card', 'x402'],
)

/** Every location of a challenge or a receipt, each changed on its own. */
export const responses: fc.Arbitrary<ResponseHead> = fc
  .record({
    status: fc.constantFrom(402, 402, 402, 402, 402, 402, 402, 200, 409, 500),
    header: fc.option(fc.tuple(changes, scar), { freq: 2 }),
    body: fc.oneof(
      { weight: 3, arbitrary: fc.tuple(fc.constant(version1 as object), changes, scar) },
      { weight: 2, arbitrary: fc.tuple(fc.constant(version2 as object), changes, scar) },
      { weight: 1, arbitrary: fc.tuple(fc.constant(problem as object), changes, scar) },
      { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
    ),
    mpp: fc.array(fc.tuple(fc.boolean(), changes, parameters, scar), { maxLength: 3 }),
    around: fc.constantFrom('', '', 'Bearer realm="x", ', 'Basic, ', 'Payment ', '",', ', , '),
    receipt: fc.option(fc.tuple(changes, scar), { freq: 2 }),
  })
  .map((parts) => {
    const headers: Record<string, string> = {}
    if (parts.header)
      headers['payment-required'] = scarred(base64(changed(version2, parts.header[0])), parts.header[1])
    if (parts.mpp.length > 0) {
      headers['www-authenticate'] = parts.around + parts.mpp.map((each) => paymentScheme(...each)).join(', ')
    }
    if (parts.receipt) {
      const text = scarred(base64(changed(receipt, parts.receipt[0])), parts.receipt[1])
      headers['payment-receipt'] = text
      headers['payment-response'] = text
    }
    const { body } = parts
    return {
      status: parts.status,
      headers,
      body: typeof body === 'string' ? body : scarred(changed(body[0], body[1]), body[2]),
    }
  })

function paymentScheme(
  isCard: boolean,
  edits: Change[],
  overrides: { name: string; value: string }[],
  wound: { at: number; cut: number; insert: string } | null,
): string {
  const values = new Map([
    ['id', `challenge-${edits.length}`],
    ['realm', 'api.example'],
    ['method', isCard ? 'stripe' : 'evm'],
    ['intent', 'charge'],
    ['expires', '2026-05-01T00:05:00Z'],
    ['request', Buffer.from(changed(isCard ? cardRequest : evmRequest, edits)).toString('base64url')],
  ])
  for (const { name, value } of overrides) values.set(name, value)
  const text = [...values].map(([name, value]) => `${name}="${value}"`).join(', ')
  return scarred(`Payment ${text}`, wound)
}

/** Returns the JSON text of a value with some of its places changed. */
function changed(value: object, edits: Change[]): string {
  const copy = structuredClone(value) as Record<string, unknown>
  const raws: string[] = []
  for (const { at, how, value: choice, key } of edits) {
    const all = places(copy)
    const place = all[at % all.length]
    if (!place) continue
    const [parent, name] = place
    if (how === 'drop') delete parent[name]
    else if (how === 'set') parent[name] = nasty[choice % nasty.length]
    else if (how === 'raw') parent[name] = `@@${raws.push(rawJson[choice % rawJson.length]!) - 1}@@`
    else parent[keys[key]!] = nasty[choice % nasty.length]
  }
  return JSON.stringify(copy).replace(/"@@(\d)@@"/g, (_, index: string) => raws[Number(index)]!)
}

function places(value: object): [Record<string, unknown>, string][] {
  return Object.entries(value).flatMap(([name, each]) => [
    [value as Record<string, unknown>, name] as [Record<string, unknown>, string],
    ...(typeof each === 'object' && each !== null ? places(each as object) : []),
  ])
}

function scarred(text: string, wound: { at: number; cut: number; insert: string } | null): string {
  if (!wound) return text
  const at = Math.floor(wound.at * text.length)
  return text.slice(0, at) + wound.insert + text.slice(at + wound.cut)
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
