import { createHash } from 'node:crypto'
import type { Offer, Protocol } from '../../domain/payment.ts'
import { basePolicy, type Asked, type SpendingPolicy } from './spending-policy.ts'

// Honest offers of each protocol, and what a hostile server may change in one, with the part of the policy that refuses it.

export const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'
export const stranger = '0x00000000000000000000000000000000DeaDBeef'
export const nowMs = Date.UTC(2026, 4, 1)
export const asked: Asked = { url: 'https://api.example/companies/lookup', body: '{"a":1}', nowMs }
export const policy: SpendingPolicy = {
  ...basePolicy,
  maxPriceAtomic: 10_000n,
  recipients: [payTo],
  cardProfiles: ['profile_1'],
  order: ['x402', 'mpp', 'mpp_card'],
}
export const digest = `sha-256=${createHash('sha256').update(asked.body).digest('base64')}`
export const singleUse = {
  realm: 'api.example',
  digest,
  expiresAt: nowMs / 1000 + 300,
  header: 'authorization',
}

export const x402: Offer = {
  protocol: 'x402',
  version: 2,
  scheme: 'exact',
  network: 'eip155:8453',
  asset: basePolicy.asset,
  payTo,
  amount: '10000',
  maxTimeoutSeconds: 300,
  domainName: 'USD Coin',
  domainVersion: '2',
  transferMethod: 'eip3009',
  paymentFlow: 'after',
  paymentIdentifier: false,
  raw: {},
}
export const mpp: Offer = {
  ...x402,
  protocol: 'mpp',
  version: 1,
  scheme: 'evm/charge',
  maxTimeoutSeconds: 0,
  paymentFlow: 'unsaid',
  singleUse,
}
export const card: Offer = {
  ...mpp,
  protocol: 'mpp_card',
  scheme: 'stripe/charge',
  network: 'card',
  asset: 'usd',
  payTo: 'profile_1',
  amount: '1',
  domainName: '',
  domainVersion: '',
  transferMethod: 'card',
}
export const good = { x402, mpp, mpp_card: card }

const onEveryProtocol: [string, Partial<Offer>, string][] = [
  ['an amount of 0', { amount: '0' }, 'amount'],
  ['a negative amount', { amount: '-10000' }, 'amount'],
  ['an amount in hexadecimal', { amount: '0x2710' }, 'amount'],
  ['an amount with an exponent', { amount: '1e4' }, 'amount'],
  ['an amount with a fraction', { amount: '0.01' }, 'amount'],
  ['no amount', { amount: '' }, 'amount'],
  ['an amount of a thousand digits', { amount: '9'.repeat(1000) }, 'amount'],
  ['another scheme', { scheme: 'upto' }, 'scheme'],
  ['the scheme of another protocol', { scheme: 'tempo/session' }, 'scheme'],
  ['an upfront flow', { paymentFlow: 'upfront' }, 'payment_flow'],
  ['an escrow', { paymentFlow: 'escrow' }, 'payment_flow'],
  ['other units', { decimals: 18 }, 'units'],
]
const onTheChain: [string, Partial<Offer>, string][] = [
  ['the double price', { amount: '20000' }, 'price'],
  ['a price that is a hair above the cap', { amount: '10001' }, 'price'],
  ['another recipient', { payTo: stranger }, 'recipient'],
  ['a recipient that is no address', { payTo: 'somebody' }, 'recipient'],
  ['another asset', { asset: stranger }, 'asset'],
  ['an asset that is no address', { asset: 'usd' }, 'asset'],
  ['another network', { network: 'eip155:84532' }, 'network'],
  ['another domain name', { domainName: 'USDC' }, 'domain'],
  ['another domain version', { domainVersion: '1' }, 'domain'],
  ['permit2', { transferMethod: 'permit2' }, 'transfer_method'],
  ['a split between recipients', { transferMethod: 'splits' }, 'transfer_method'],
]
const onX402: [string, Partial<Offer>, string][] = [
  ['a life of a year', { maxTimeoutSeconds: 365 * 86_400 }, 'lifetime'],
  ['a life of nothing', { maxTimeoutSeconds: 0 }, 'lifetime'],
  ['a life of half a second', { maxTimeoutSeconds: 0.5 }, 'lifetime'],
  ['a life that is no number', { maxTimeoutSeconds: Number.NaN }, 'lifetime'],
]
export const once = (change: Partial<typeof singleUse> | { digest: null; expiresAt: null }) => ({
  singleUse: { ...singleUse, ...change },
})
const onMpp: [string, Partial<Offer>, string][] = [
  ['a life of a year', once({ expiresAt: nowMs / 1000 + 365 * 86_400 }), 'lifetime'],
  ['no end', { singleUse: { ...singleUse, expiresAt: null } }, 'lifetime'],
  ['an end in the past', once({ expiresAt: nowMs / 1000 - 1 }), 'expired'],
  ['an end in five seconds', once({ expiresAt: nowMs / 1000 + 5 }), 'expired'],
  ['an end that is no number', once({ expiresAt: Number.NaN }), 'expired'],
  ['another realm', once({ realm: 'elsewhere.example' }), 'realm'],
  ['a realm that only begins alike', once({ realm: 'api.example.evil' }), 'realm'],
  [
    'the digest of another body',
    once({ digest: 'sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=' }),
    'digest',
  ],
  ['a digest that is none', once({ digest: 'sha-256=' }), 'digest'],
  ['a header of another meaning', once({ header: 'cookie' }), 'header'],
]
const onCards: [string, Partial<Offer>, string][] = [
  ['the double price', { amount: '2' }, 'price'],
  ["USDC's units: a hundred dollars", { amount: '10000' }, 'price'],
  ['another currency', { asset: 'eur' }, 'asset'],
  ['a token as currency', { asset: basePolicy.asset }, 'asset'],
  ['another profile', { payTo: 'profile_2' }, 'recipient'],
  ['another way than a card', { transferMethod: 'us_bank_account' }, 'transfer_method'],
]
export const hostile: [Protocol, string, Partial<Offer>, string][] = [
  ...(['x402', 'mpp', 'mpp_card'] as const).flatMap((protocol) =>
    onEveryProtocol.map((row) => [protocol, ...row] as [Protocol, string, Partial<Offer>, string]),
  ),
  ...(['x402', 'mpp'] as const).flatMap((protocol) =>
    onTheChain.map((row) => [protocol, ...row] as [Protocol, string, Partial<Offer>, string]),
  ),
  ...onX402.map((row) => ['x402', ...row] as [Protocol, string, Partial<Offer>, string]),
  ...(['mpp', 'mpp_card'] as const).flatMap((protocol) =>
    onMpp.map((row) => [protocol, ...row] as [Protocol, string, Partial<Offer>, string]),
  ),
  ...onCards.map((row) => ['mpp_card', ...row] as [Protocol, string, Partial<Offer>, string]),
]
