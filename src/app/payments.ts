import { randomUUID } from 'node:crypto'
import type { PrivateKeyAccount } from 'viem/accounts'
import { ConfigError } from '../domain/errors.ts'
import type { PaymentProtocol } from '../domain/payment.ts'
import type { ChargeJournal, OpenCharge } from '../domain/ports/charge-journal.ts'
import type { Send } from '../domain/ports/transport.ts'
import type { TakeTurn } from '../domain/ports/turn.ts'
import type { Fact, LookupRequest } from '../domain/record.ts'
import type { Operation } from '../domain/words.ts'
import { apiKeyTerms, createApiKey } from '../pay/api-key/protocol.ts'
import { budgetLines } from '../pay/budget.ts'
import type { Chain } from '../pay/chain.ts'
import { createFunds, type Funds } from '../pay/funds.ts'
import { createMpp } from '../pay/mpp/protocol.ts'
import { createPayer, type Payer } from '../pay/payer.ts'
import type { Purchase } from '../pay/purchase.ts'
import { createResolver, type Resolution } from '../pay/resolver.ts'
import { createX402 } from '../pay/x402/protocol.ts'
import { answerError } from '../service/answer-error.ts'
import { createChargeJournal } from '../store/charges.ts'
import type { Database } from '../store/database.ts'
import { createTermsBook } from '../store/terms-book.ts'
import type { Config } from './config.ts'

export interface PaymentsOptions {
  config: Config
  db: Database
  chain: Chain
  account: PrivateKeyAccount | undefined
  ledgerId: string
  send: Send
  wireBody: (body: string) => string
  takeTurn: TakeTurn
  prepare: (operation: Operation, request: LookupRequest) => Purchase['request']
  freshUntil: (operation: Operation, outcome: Fact['outcome'], now: Date) => Date
  now: () => Date
  journal: (journal: ChargeJournal) => ChargeJournal
  onUnpaidRequest: (runId: string) => void
  onError: (error: unknown) => void
}

export interface Payments {
  payer: Payer
  /** One pass over the charges that no worker drives. */
  resolve: (restedMs?: number) => Promise<Resolution>
}

/** Everything that pays, wired: protocols in the configured order, journal, budgets, payer, resolver. */
export function createPayments(options: PaymentsOptions): Payments {
  const { config, db, now, account, chain } = options
  const journal = options.journal(createChargeJournal(db, { now, newId: randomUUID }))
  const payer = createPayer({
    journal,
    terms: createTermsBook(db, { now }),
    send: options.send,
    wireBody: options.wireBody,
    takeTurn: options.takeTurn,
    protocols: protocolsOf(options),
    policy: config.policy,
    funds: account ? createFunds({ address: account.address, balanceOf: chain.balanceOf, now }) : noFunds,
    budgetLines: (charge) => budgetLines(charge, config.caps),
    freshUntil: options.freshUntil,
    errorFor: answerError,
    ledgerId: options.ledgerId,
    lifetimeSeconds: config.authorizationSeconds,
    rebuyLost: config.rebuyLost,
    now,
    onRequest: options.onUnpaidRequest,
    // One credit a lookup, as the service's price list says of both endpoints (service.md, 8).
    ...(config.apiKey ? { standingTerms: apiKeyTerms(1) } : {}),
    ...(config.buyerToken
      ? { extraHeaders: { 'zc-agent-authorization': `Bearer ${config.buyerToken}` } }
      : {}),
  })
  const resolve = createResolver({
    openCharges: journal.openCharges,
    touch: journal.touch,
    payer,
    purchaseOf: (charge) => purchaseOf(charge, options.prepare),
    now,
    onError: options.onError,
  })
  return { payer, resolve }
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
        ...(config.proofHeader === undefined ? {} : { proofHeader: config.proofHeader }),
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
  throw new ConfigError(
    'missing_setting',
    'nothing to pay with: set PAYDIRT_WALLET_KEY (`paydirt wallet new` makes one) or, for direct access, PAYDIRT_API_KEY',
  )
}

/** A charge knows its address and body to the letter; how to read the answer is its operation's. */
function purchaseOf(charge: OpenCharge, prepare: PaymentsOptions['prepare']): Purchase {
  const request = prepare(charge.operation, JSON.parse(charge.body) as LookupRequest)
  return {
    key: charge.lookupKey,
    runId: charge.runId,
    connector: charge.connector,
    lane: 'bulk',
    request: { ...request, url: charge.url, body: charge.body },
  }
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
