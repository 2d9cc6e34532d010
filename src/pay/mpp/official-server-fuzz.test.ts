import { Challenge, Credential } from 'mppx'
import { challengeHash } from 'mppx/evm'
import { Mppx, evm } from 'mppx/server'
import fc from 'fast-check'
import type { TypedDataDefinition } from 'viem'
import { privateKeyToAccount, type LocalAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { sized } from '../../../test/support/full-size.ts'
import { fuzzCases, testSeed } from '../../../test/support/seed.ts'
import { PaydirtError, PolicyDeniedError } from '../../domain/errors.ts'
import type { ResponseHead } from '../../domain/payment.ts'
import { basePolicy, chooseTerms, type SpendingPolicy } from '../limits/spending-policy.ts'
import { createMppCard, type TokenRequest } from './card.ts'
import { readChallenges } from './challenge.ts'
import { createMpp } from './protocol.ts'
import { responses, textOf, secretKey, payTo, realm, nowMs } from './hostile-server.fixture.ts'

// A hostile server: mppx's own, which makes and verifies every challenge, with up to three fields of each changed and
// signed again with the server's secret, so that it would accept them. What the wallet signs is judged twice: by the rules
// below, which share no code with the policy, and by what the server then settles.

const cases = fuzzCases(sized(1_500, 500))
const seed = testSeed()
const asked = { url: `https://${realm}/companies/lookup`, body: '{"a":1}', nowMs }

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
        // Nothing was sent, signed or not.
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
})

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
