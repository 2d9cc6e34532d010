import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { PaydirtError } from '../../src/domain/errors.ts'
import { lookupKey } from '../../src/domain/keys.ts'
import type { Fate, ResponseHead } from '../../src/domain/payment.ts'
import type { ChargeJournal } from '../../src/domain/ports/charge-journal.ts'
import type { ServiceRequest } from '../../src/domain/ports/transport.ts'
import { budgetLines } from '../../src/pay/limits/budget.ts'
import { createFunds } from '../../src/pay/limits/funds.ts'
import { createPayer, type Payer } from '../../src/pay/payer.ts'
import { basePolicy } from '../../src/pay/limits/spending-policy.ts'
import type { Purchase } from '../../src/pay/purchase.ts'
import { createX402 } from '../../src/pay/x402/protocol.ts'
import { answerError } from '../../src/service/answer-error.ts'
import { prepareRequest } from '../../src/service/client.ts'
import { creditsOf } from '../../src/service/schema/metadata.ts'
import { createChargeJournal } from '../../src/store/ledger/charge-journal.ts'
import type { Database } from '../../src/store/database/database.ts'
import { createLookupLedger } from '../../src/store/ledger/lookups.ts'
import { createRunLedger } from '../../src/store/runs/runs.ts'
import { createTermsCache } from '../../src/store/ledger/terms.ts'

const payTo = '0x5A4dB0E5a4db0E5A4Db0E5a4db0E5A4Db0E5A4D0'

/** A possible next answer of a service; a function sees the request, and may throw as the transport does. */
export type Reply = ResponseHead | ((request: ServiceRequest) => ResponseHead)

/**
 * The payer on a real ledger and with real signatures, between a service whose every answer is scripted and a chain that
 * says what the test wants, under a clock that only the test moves.
 */
export async function setStage(db: Database, options: { rebuyLost?: boolean; balanceAtomic?: bigint } = {}) {
  const id = randomUUID().slice(0, 8)
  let clockMs = Date.parse('2026-03-01T12:00:00Z')
  const now = () => new Date(clockMs)
  const account = privateKeyToAccount(generatePrivateKey())
  const runs = createRunLedger(db, { now })
  const lookups = createLookupLedger(db, { now })
  const { run } = await runs.open({
    id: `run-${id}`,
    connector: 'csv',
    object: 'company',
    entity: 'company',
    recipe: 'profile',
    trigger: 'csv',
    fingerprint: id,
    source: {},
  })
  const serviceUrl = `https://service-${id}.example`
  const request = prepareRequest(serviceUrl, 'company.profile', {
    profnet_url: `https://www.profnet.example/company/${id}`,
  })
  const key = lookupKey('company.profile', `profnet.example/company/${id}`)
  await lookups.want(
    [{ key, operation: 'company.profile', request: JSON.parse(request.body) as Record<string, string> }],
    { id: run.id, connector: 'csv', hot: false },
  )
  const purchase: Purchase = {
    key,
    buys: [key],
    runId: run.id,
    connector: 'csv',
    lane: 'background',
    request,
  }

  const requests: ServiceRequest[] = []
  const script: Reply[] = []
  const chain: { fate: Fate } = { fate: { kind: 'live' } }
  const turns = { taken: 0, done: 0 }
  const realJournal = createChargeJournal(db, { now, newId: randomUUID })

  /** A payer as a process has it; another one has forgotten whatever stands in memory alone. */
  function startPayer(change: Partial<ChargeJournal> = {}): Payer {
    return createPayer({
      journal: { ...realJournal, ...change },
      terms: createTermsCache(db, { now }),
      async send(sent) {
        requests.push(sent)
        const reply = script.shift()
        if (!reply) throw new Error('nothing is scripted for this request')
        return typeof reply === 'function' ? reply(sent) : reply
      },
      async acquirePermit() {
        turns.taken += 1
        return { ready: async () => {}, done: async () => void (turns.done += 1) }
      },
      protocols: [createX402({ account, chain: { fate: async () => chain.fate } })],
      policy: { ...basePolicy, maxPriceAtomic: 10_000n, recipients: [], order: ['x402'] },
      funds: createFunds({
        address: account.address,
        balanceOf: async () => options.balanceAtomic ?? 1_000_000n,
        now,
      }),
      budgetLines: (charge) => budgetLines(charge, {}),
      freshUntil: (_, outcome, at) =>
        new Date(at.getTime() + (outcome === 'not_found' ? 30 : 90) * 86_400_000),
      errorFor: answerError,
      creditsOf: (body) => creditsOf(body)?.totalCreditCost,
      ledgerId: id,
      lifetimeSeconds: 300,
      rebuyLost: options.rebuyLost ?? true,
      now,
    })
  }

  return {
    key,
    run,
    purchase,
    lookups,
    journal: realJournal,
    /** As when its answer has grown stale. */
    askAnew: () => db.updateTable('lookups').set({ state: 'waiting' }).where('key', '=', key).execute(),
    requests,
    turns,
    chain,
    startPayer,
    script: (...replies: Reply[]) => void script.push(...replies),
    unused: () => script.length,
    pass: (seconds: number) => void (clockMs += seconds * 1000),
    /** The proofs that were sent, in order; undefined for a request without one. */
    proofs: () => requests.map(({ headers }) => headers?.['payment-signature']),
    charges: () =>
      db
        .selectFrom('charges')
        .select(['attempt', 'state', 'reason', 'sends', 'nonce', 'transaction'])
        .where('lookup_key', '=', key)
        .orderBy('attempt')
        .execute(),
    async committed() {
      const { rows } = await sql<{ committed: bigint }>`
        select committed_atomic as committed from budgets where scope = ${`run:${run.id}`}`.execute(db)
      return rows[0]?.committed ?? 0n
    },
    async answer() {
      const facts = await lookups.facts([key])
      return facts.get(key)
    },
  }
}

export type Stage = Awaited<ReturnType<typeof setStage>>

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')

/** A 402 as the x402 server library answers it; `offer` changes what it asks for. */
export function challenge(
  options: { error?: string; offer?: object; identifier?: boolean } = {},
): ResponseHead {
  const required = {
    x402Version: 2,
    error: options.error ?? 'Payment required',
    resource: { url: 'https://service.example/companies/profnet/lookup', description: '', mimeType: '' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        asset: basePolicy.asset,
        amount: '10000',
        payTo,
        maxTimeoutSeconds: 300,
        extra: { name: 'USD Coin', version: '2' },
        ...options.offer,
      },
    ],
    ...(options.identifier
      ? { extensions: { 'payment-identifier': { info: { required: false }, schema: {} } } }
      : {}),
  }
  return { status: 402, headers: { 'payment-required': base64(required) }, body: '{}' }
}

export const transaction = `0x${'ab'.repeat(32)}`

export function found(options: { receipt?: boolean; name?: string } = {}): ResponseHead {
  const receipt = { success: true, transaction, network: 'eip155:8453', payer: payTo }
  return {
    status: 200,
    headers: options.receipt === false ? {} : { 'payment-response': base64(receipt) },
    body: JSON.stringify({ data: { company_name: options.name ?? 'Acme' } }),
  }
}

export const plain = (status: number, headers: Record<string, string> = {}): ResponseHead => ({
  status,
  headers,
  body: '{"error":"x"}',
})

export const fails = (error: PaydirtError): Reply => {
  return () => {
    throw error
  }
}
