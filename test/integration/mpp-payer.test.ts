import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Mppx } from 'mppx/client'
import { charge } from 'mppx/evm/client'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { LookupKey } from '../../src/domain/keys.ts'
import type { Protocol } from '../../src/domain/payment.ts'
import type { ServiceRequest } from '../../src/domain/ports/transport.ts'
import { budgetLines } from '../../src/pay/limits/budget.ts'
import { createChain } from '../../src/pay/chain/chain.ts'
import { createFunds } from '../../src/pay/limits/funds.ts'
import { createMpp } from '../../src/pay/mpp/protocol.ts'
import { createPayer } from '../../src/pay/payer.ts'
import { basePolicy } from '../../src/pay/limits/spending-policy.ts'
import { createX402 } from '../../src/pay/x402/protocol.ts'
import { answerError } from '../../src/service/answer-error.ts'
import { prepareRequest } from '../../src/service/client.ts'
import { createTransport, type Transport } from '../../src/service/transport.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import type { OpenDatabase } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { createTermsCache } from '../../src/store/ledger/terms.ts'
import { openFreshLedger } from '../support/fresh-ledger.ts'
import { company, PRICE, useSandbox } from './sandbox-fixture.ts'

const world = useSandbox()
let database: OpenDatabase
let close: () => Promise<void>
let transport: Transport

beforeAll(async () => {
  ;({ database, close } = await openFreshLedger())
  transport = createTransport({ userAgent: 'paydirt-tests/1', networkName: 'profnet' })
})
afterAll(async () => {
  await transport.close()
  await close()
})

/** The payer over the real journal, with a wallet of its own and a record of what it sent. */
async function openPayer(order: Protocol[], settings: { repeatsAnswers?: boolean } = {}) {
  const { db } = database
  const now = () => new Date()
  const account = privateKeyToAccount(generatePrivateKey())
  await world.sandbox.fund(account.address, 100n * PRICE)
  const { rpcUrl, asset, serviceUrl } = world.sandbox
  const chain = createChain({ rpcUrl, asset })
  const sent: ServiceRequest[] = []
  const runId = randomUUID()
  const run = {
    id: runId,
    connector: 'csv',
    object: 'company',
    entity: 'company',
    recipe: 'r',
    trigger: 't',
  } as const
  await createRunLedger(db, { now }).open({ ...run, fingerprint: runId, source: {} })
  const payer = createPayer({
    journal: createChargeJournal(db, { now, newId: randomUUID }),
    terms: createTermsCache(db, { now, cacheMs: 0 }),
    send: (request) => {
      sent.push(request)
      return transport.send(request)
    },
    acquirePermit: async () => ({ ready: async () => {}, done: async () => {} }),
    protocols: [
      createX402({ account, chain }),
      createMpp({ account, chain, domain: basePolicy, ...settings }),
    ],
    policy: { ...basePolicy, maxPriceAtomic: PRICE, recipients: [world.sandbox.payTo], order },
    funds: createFunds({ address: account.address, balanceOf: chain.balanceOf, now }),
    budgetLines: (charge) => budgetLines(charge, {}),
    freshUntil: (_, __, at) => new Date(at.getTime() + 1000),
    errorFor: answerError,
    ledgerId: account.address,
    lifetimeSeconds: 300,
    rebuyLost: true,
    now,
  })

  return {
    async buy(name: string) {
      const key = `company.profile|${runId}-${name}` as LookupKey
      const request = company(name)
      const lookups = createLookupLedger(db, { now })
      await lookups.want([{ key, operation: 'company.profile', request }], {
        id: runId,
        connector: 'csv',
        hot: false,
      })
      const prepared = prepareRequest(serviceUrl, 'company.profile', request)
      return payer.buy({ key, buys: [key], runId, connector: 'csv', lane: 'background', request: prepared })
    },
    charges: () =>
      db
        .selectFrom('charges')
        .select(['protocol', 'state', 'transaction'])
        .where('run_id', '=', runId)
        .execute(),
    transfers: () => world.sandbox.transfersFrom(account.address),
    /** The proofs that went out, in their order. */
    proofs: () =>
      sent.flatMap(({ headers }) => headers?.['authorization'] ?? headers?.['payment-signature'] ?? []),
    requests: () => sent.length,
  }
}

describe('the payer, where a lookup is paid for by MPP', () => {
  test('asks for a challenge of its own for every lookup', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp' })
    const payer = await openPayer(['mpp'])
    for (const name of ['one', 'two', 'three']) expect((await payer.buy(name)).outcome).toBe('found')
    expect(payer.requests()).toBe(6)
    expect(new Set(payer.proofs()).size).toBe(3)
    const transactions = (await payer.transfers()).map(({ transaction }) => transaction)
    expect(transactions).toHaveLength(3)
    expect(await payer.charges()).toEqual(
      transactions.map((transaction) => ({ protocol: 'mpp', state: 'settled', transaction })),
    )
  })

  test('sends the same bytes again after a cut, and pays once', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp', dropBeforeSettlement: { next: 1 } })
    const payer = await openPayer(['mpp'])
    await expect(payer.buy('one')).rejects.toMatchObject({ name: 'RetriableError' })
    expect((await payer.buy('one')).outcome).toBe('found')
    const [first, second, ...others] = payer.proofs()
    expect(others).toEqual([])
    expect(second).toBe(first)
    expect(await payer.transfers()).toHaveLength(1)
    expect(await payer.charges()).toMatchObject([{ state: 'settled' }])
  })

  test('never falls over to the other protocol after a send', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'both', challengeAfterSettlement: { share: 1 } })
    const payer = await openPayer(['mpp', 'x402'])
    for (let turn = 0; turn < 3; turn++) {
      await expect(payer.buy('one')).rejects.toMatchObject({ name: 'PaymentInDoubtError' })
    }
    expect(new Set(payer.proofs()).size).toBe(1)
    expect(payer.proofs()[0]).toMatch(/^Payment /)
    expect(await payer.charges()).toMatchObject([{ protocol: 'mpp', state: 'in_doubt' }])
    expect(await payer.transfers()).toHaveLength(1)
  })

  test('where the stock client pays three times for one answer that never comes', async () => {
    world.sandbox.faults.set({ challengeProtocols: 'mpp', challengeAfterSettlement: { share: 1 } })
    const account = privateKeyToAccount(generatePrivateKey())
    await world.sandbox.fund(account.address, 100n * PRICE)
    const stock = Mppx.create({
      polyfill: false,
      methods: [charge({ account, authorization: { name: 'USD Coin', version: '2' } })],
    })
    const { status } = await stock.fetch(world.companies, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'user-agent': 'paydirt-tests/1' },
      body: JSON.stringify(company('one')),
    })
    expect(status).toBe(402)
    expect(await world.sandbox.transfersFrom(account.address)).toHaveLength(3)
  })

  test.each(['dropAfterSettlement', 'challengeAfterSettlement'] as const)(
    'gets the answer that was lost to %s where the server honours Idempotency-Key',
    async (fault) => {
      world.sandbox.faults.set({
        challengeProtocols: 'mpp',
        mpp: { idempotencyKey: true },
        [fault]: { next: 1 },
      })
      const payer = await openPayer(['mpp'], { repeatsAnswers: true })
      await expect(payer.buy('one')).rejects.toMatchObject({
        name: expect.stringMatching(/^(RetriableError|PaymentInDoubtError)$/),
      })
      expect((await payer.buy('one')).outcome).toBe('found')
      expect(await payer.charges()).toMatchObject([{ state: 'settled' }])
      expect(await payer.transfers()).toHaveLength(1)
    },
  )

  test('signs nothing for a challenge outside the policy', async () => {
    world.sandbox.faults.set({
      challengeProtocols: 'mpp',
      changedOffers: { next: 1, offers: [{ amountAtomic: '20000' }] },
    })
    const payer = await openPayer(['mpp'])
    await expect(payer.buy('one')).rejects.toMatchObject({ name: 'PolicyDeniedError', code: 'price' })
    expect(payer.proofs()).toEqual([])
    expect(await payer.charges()).toEqual([])
  })
})
