import { randomUUID } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { ConfigError, PolicyDeniedError } from '../../domain/errors.ts'
import { isBatchKey } from '../../domain/keys.ts'
import type { Atomic } from '../../domain/money.ts'
import { aboveCapText } from '../../pay/limits/above-cap.ts'
import type { PaymentProtocol, Terms } from '../../domain/payment.ts'
import { slotOf } from '../../domain/planning/step.ts'
import type { ChargeJournal, OpenCharge, StoredAnswer } from '../../domain/ports/charge-journal.ts'
import type { OnExchange } from '../../domain/ports/meter.ts'
import type { Send } from '../../domain/ports/transport.ts'
import type { AcquirePermit } from '../../domain/ports/send-permit.ts'
import type { Fact, LookupRequest } from '../../domain/record.ts'
import type { Operation } from '../../domain/words.ts'
import { apiKeyTerms, createApiKey } from '../../pay/api-key/protocol.ts'
import { budgetLines } from '../../pay/limits/budget.ts'
import type { Chain } from '../../pay/chain/chain.ts'
import { createFunds, type Funds } from '../../pay/limits/funds.ts'
import { createMpp } from '../../pay/mpp/protocol.ts'
import { createPayer, type Payer } from '../../pay/payer.ts'
import type { PayerOptions } from '../../pay/payer-options.ts'
import { seedSecret } from '../../pay/payment-seed.ts'
import type { Purchase } from '../../pay/purchase.ts'
import { createResolver, type Resolution } from '../../pay/resolver.ts'
import { createX402 } from '../../pay/x402/protocol.ts'
import { answerDocuments } from '../../service/answer-documents.ts'
import { answerError } from '../../service/answer-error.ts'
import type { PreparedBatch } from '../../service/batch.ts'
import { creditsOf, warningsOf } from '../../service/schema/metadata.ts'
import { createApiTokenLedger } from '../../store/access/api-tokens.ts'
import { noteLimit } from '../../store/contract/known-limits.ts'
import { createChargeJournal } from '../../store/ledger/charge-journal.ts'
import type { Database } from '../../store/database/database.ts'
import { listOfRun } from '../../store/lists/list-spending.ts'
import type { SettledHere } from '../../store/ledger/lookups.ts'
import { noteWarnings, type ServiceWarning } from '../../store/ledger/service-warnings.ts'
import { createTermsCache } from '../../store/ledger/terms.ts'
import { batchRequest } from '../../workers/lookup/batch-request.ts'
import type { Config } from '../config/config.ts'
import { monthCap } from '../config/watching/month-cap.ts'
import { matchCaps } from '../config/watching/match-lists.ts'
import { limitTold } from './refused-page.ts'
import type { Observer } from './observer.ts'
import { noPayment } from './missing-settings.ts'
import { createRunBudgets } from './run-budgets.ts'

export interface PaymentsOptions {
  config: Config
  db: Database
  chain: Chain
  account: PrivateKeyAccount | undefined
  ledgerId: string
  send: Send
  wireBody: (body: string) => string
  acquirePermit: AcquirePermit
  prepareBulk: (operation: Operation, request: LookupRequest) => PreparedBatch
  resume: (charge: OpenCharge) => Purchase['request']
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  /** Takes out of an answer what the ledger must not hold. */
  screen?: ((operation: Operation, answer: StoredAnswer) => Promise<StoredAnswer>) | undefined
  usedBefore?: PayerOptions['usedBefore']
  settled?: SettledHere | undefined
  now: () => Date
  wrapJournal: ((journal: ChargeJournal) => ChargeJournal) | undefined
  onUnpaidRequest: (runId: string) => void
  /** Called when the service says for the first time that it did not accept a field as it was sent. */
  onWarning: (warning: ServiceWarning, endpoint: string) => void
  observer: Pick<Observer, 'answer' | 'price'>
  onExchange?: OnExchange
  onError: (error: unknown) => void
}

export interface Payments {
  payer: Payer
  /** One pass over the charges that no worker drives. */
  resolve: (restedMs?: number) => Promise<Resolution>
}

/** Builds everything that pays: protocols in the configured order, journal, budgets, payer, resolver. */
export function createPayments(options: PaymentsOptions): Payments {
  const { config, db, now, account, chain } = options
  const warned = new Set<string>()
  const plainJournal = createChargeJournal(db, {
    now,
    newId: randomUUID,
    hosts: config.networkHosts,
    settled: options.settled,
  })
  const journal = options.wrapJournal ? options.wrapJournal(plainJournal) : plainJournal
  const runBudgets = createRunBudgets({
    tokens: createApiTokenLedger(db, { now }),
    listOf: (runId) => listOfRun(db, runId),
    listMonths: (name) => monthCap(config, name),
    matchCaps: (monitor) => matchCaps(config, monitor),
  })
  const payer = createPayer({
    journal,
    terms: createTermsCache(db, { now }),
    send: options.send,
    wireBody: options.wireBody,
    acquirePermit: options.acquirePermit,
    protocols: protocolsOf(options),
    policy: config.policy,
    funds: account ? createFunds({ address: account.address, balanceOf: chain.balanceOf, now }) : noFunds,
    recallRun: runBudgets.recall,
    budgetLines: async (charge) => [
      ...budgetLines(charge, config.caps),
      ...(await runBudgets.linesOf(charge)),
    ],
    freshUntil: options.freshUntil,
    screen: options.screen,
    errorFor: answerError,
    ledgerId: options.ledgerId,
    seedSecret: config.walletKey === undefined ? undefined : seedSecret(config.walletKey),
    lifetimeSeconds: config.authorizationSeconds,
    usedBefore: options.usedBefore,
    rebuyLost: config.rebuyLost,
    now,
    onRequest: options.onUnpaidRequest,
    fixedTerms: config.apiKey && ((purchase, cap) => creditTerms(purchase, config, cap)),
    creditsOf: (body) => creditsOf(body)?.totalCreditCost,
    onAnswer(request, body, protocol) {
      options.observer.answer(request, body, protocol)
      void warn(request, body)
      answerDocuments.drop(body)
    },
    onTerms: options.observer.price,
    onExchange: options.onExchange,
    serviceOrigin: config.serviceUrl === undefined ? undefined : new URL(config.serviceUrl).origin,
    extraHeaders: config.buyerToken ? { 'zc-agent-authorization': `Bearer ${config.buyerToken}` } : undefined,
  })
  const resolve = createResolver({
    openCharges: journal.openCharges,
    touch: journal.touch,
    payer,
    purchaseOf: (charge) => purchaseOf(charge, options),
    now,
    onError: options.onError,
  })
  return { payer: { ...payer, buy }, resolve }

  /** A refused page is the limit from now on: no further one is sent, because a refused request leaves money in doubt. */
  async function buy(purchase: Purchase): Promise<StoredAnswer> {
    try {
      return await payer.buy(purchase)
    } catch (error) {
      const limit = limitTold(purchase.request, error, now())
      if (limit) await noteLimit(db, limit)
      throw error
    }
  }

  async function warn({ method, url }: Purchase['request'], body: string): Promise<void> {
    const endpoint = `${method} ${url}`
    const said = warningsOf(body).filter((each) => !warned.has(`${endpoint} ${each.kind} ${each.field}`))
    if (said.length === 0) return
    for (const each of said) warned.add(`${endpoint} ${each.kind} ${each.field}`)
    const fresh = await noteWarnings(db, endpoint, said, now()).catch(() => [])
    for (const each of fresh) options.onWarning(each, endpoint)
  }
}

function protocolsOf({ config, account, chain }: PaymentsOptions): PaymentProtocol[] {
  const { domainName, domainVersion } = config.policy
  const protocols: PaymentProtocol[] = []
  if (config.apiKey) protocols.push(createApiKey({ apiKey: config.apiKey.key, header: config.apiKey.header }))
  if (account) {
    protocols.push(
      createX402({
        account,
        chain,
        proofHeader: config.proofHeader,
      }),
      createMpp({
        account,
        chain,
        domain: { domainName, domainVersion },
        repeatsAnswers: config.mppRepeatsAnswers,
      }),
    )
  }
  if (protocols.length > 0) return protocols
  throw noPayment()
}

/** Returns the purchase of a charge, which is sent with the charge's address and body. The operation decides how the answer is read. */
function purchaseOf(
  charge: OpenCharge,
  { resume, prepareBulk }: Pick<PaymentsOptions, 'resume' | 'prepareBulk'>,
): Purchase {
  const isBatch = isBatchKey(charge.lookupKey)
  const request = isBatch ? batchRequest(prepareBulk(charge.operation, charge.request)) : resume(charge)
  return {
    key: charge.lookupKey,
    buys: isBatch ? [] : [charge.lookupKey],
    runId: charge.runId,
    connector: charge.connector,
    lane: 'background',
    request,
  }
}

/**
 * Returns the terms of direct access: the most that the request can cost, in credits. A step whose price is not known counts with
 * its own cap, if it has one, until the answer states its cost. Throws PolicyDeniedError for one that has neither, because no
 * challenge names its price, and for a request above its cap.
 */
function creditTerms(
  { buys }: Purchase,
  { prices, policy }: Pick<Config, 'prices' | 'policy'>,
  capAtomic: Atomic,
): Terms {
  let atomic = 0n
  for (const key of buys) {
    const slot = slotOf(key)
    const price = prices[slot] ?? policy.maxPrices?.[slot]
    if (price === undefined) {
      throw new PolicyDeniedError(
        'price_unknown',
        `the price of ${slot} is not known: set it in payment.pricesUsd, or its cap in payment.maxPricesUsd`,
      )
    }
    atomic += price
  }
  if (atomic > capAtomic) {
    const slots = buys.map(slotOf)
    const option = slots[0] && policy.capNames?.[slots[0]]
    throw new PolicyDeniedError('price', aboveCapText(slots, { priceAtomic: atomic, capAtomic }, option))
  }
  return apiKeyTerms(atomic)
}

const noFunds: Funds = {
  assertCover: async () => {},
  foundEmpty() {
    throw new ConfigError(
      'no_wallet',
      'the service asks for a payment and no wallet is set (PAYDIRT_WALLET_KEY)',
    )
  },
}
