import { PaymentInDoubtError, RetriableError, BudgetExhaustedError } from '../domain/errors.ts'
import { lookupKey } from '../domain/keys.ts'
import {
  openChargeStates,
  type Authorization,
  type Charge,
  type Fate,
  type Offer,
  type PaymentProtocol,
  type Protocol,
  type ResponseHead,
  type Terms,
} from '../domain/payment.ts'
import type {
  ChargeJournal,
  NewCharge,
  PaidReceipt,
  StoredAnswer,
  TermsCache,
} from '../domain/ports/charge-journal.ts'
import type { ServiceRequest } from '../domain/ports/transport.ts'
import type { PayerOptions } from './payer-options.ts'
import type { Purchase } from './purchase.ts'
import { host, offerOf, payTo } from './payer-replies.fixture.ts'
import { basePolicy } from './limits/spending-policy.ts'

// The payer between a journal in memory, a service whose answers are scripted, and a chain that says what the test
// wants. Everything that happens is written into `events`, in order.

export type Reply = ResponseHead | Error

export function openStage(name: Protocol = 'x402') {
  let clockMs = Date.UTC(2026, 4, 1)
  const now = () => new Date(clockMs)
  const events: string[] = []
  const script: Reply[] = []
  const requests: ServiceRequest[] = []
  const charges: (Charge & { transaction?: string | null })[] = []
  const reservations: NewCharge[] = []
  const receipts: PaidReceipt[] = []
  const answers: StoredAnswer[] = []
  const book = new Map<string, Terms>()
  const pins = new Map<string, string>()
  const chain: { fate: Fate; asked: number } = { fate: { kind: 'live' }, asked: 0 }
  /** Answers that the journal gives in place of doing the step. */
  const journalSays: { maySend?: 'closed' | 'stopped'; markSent?: 'closed' | 'stopped'; withdraw?: false } =
    {}
  let cannotCover = false

  const charge = (id: string) => charges.find((it) => it.id === id)!
  const journal: ChargeJournal = {
    touch: async () => {},
    openCharges: async () => [],
    async unanswered(key) {
      const mine = charges.filter((it) => it.lookupKey === key)
      return {
        open: mine.find(({ state }) => openChargeStates.some((open) => open === state)),
        lost: mine.filter(({ state }) => state === 'lost').length,
      }
    },
    async reserve(order) {
      if ((await journal.unanswered(order.lookupKey)).open)
        throw new PaymentInDoubtError('open', 'one is open')
      reservations.push(order)
      const attempt = charges.length + 1
      const made = journaled({ id: `charge ${attempt}`, attempt, authorization: order.draw(attempt, null) })
      charges.push(made)
      events.push(`reserve ${order.amountAtomic}`)
      return made
    },
    maySend: async () => journalSays.maySend ?? 'sent',
    async markSent(id, at) {
      if (journalSays.markSent) return journalSays.markSent
      events.push(`markSent ${id}`)
      const row = charge(id)
      Object.assign(row, { state: 'sent', sends: row.sends + 1, sentAt: row.sentAt ?? at })
      return 'sent'
    },
    async markInDoubt(id, reason) {
      events.push(`markInDoubt ${id}: ${reason}`)
      Object.assign(charge(id), { state: 'in_doubt', reason })
    },
    async settleCharge({ id }, receipt, answer) {
      events.push(`settle ${id}`)
      Object.assign(charge(id), { state: 'settled', transaction: receipt.transaction })
      receipts.push(receipt)
      answers.push(answer)
    },
    async storeAnswer(id, reason, answer) {
      events.push(`storeAnswer ${id}: ${reason}`)
      Object.assign(charge(id), { state: 'in_doubt', reason })
      answers.push(answer)
    },
    async storeFreeAnswer(key, answer) {
      events.push(`storeFreeAnswer ${key}`)
      answers.push(answer)
    },
    async confirm(id, transaction, at) {
      events.push(`confirm ${id} ${transaction} ${at.toISOString()}`)
      Object.assign(charge(id), { state: 'settled', transaction })
    },
    async release(id, state, reason) {
      events.push(`release ${id} ${state}: ${reason}`)
      Object.assign(charge(id), { state, reason })
    },
    async withdraw(id) {
      events.push(`withdraw ${id}`)
      if (journalSays.withdraw === false) return false
      charge(id).state = 'declined'
      return true
    },
    async lose(id, transaction, reason) {
      events.push(`lose ${id} ${transaction}: ${reason}`)
      Object.assign(charge(id), { state: 'lost', reason, transaction })
    },
    async recordRefusal({ rule, endpoint, lookupKey: key, runId, message }) {
      events.push(`refused ${rule} ${endpoint} ${key} ${runId}: ${message}`)
    },
  }
  const terms: TermsCache = {
    terms: async (endpoint) => book.get(endpoint),
    async remember(endpoint, each) {
      events.push(`remember ${endpoint}`)
      book.set(endpoint, each)
    },
    async forget(endpoint) {
      events.push(`forget ${endpoint}`)
      book.delete(endpoint)
    },
    pinnedRecipient: async (at, protocol) => pins.get(`${at} ${protocol}`),
    async pinRecipient(at, protocol, recipient) {
      const pinned = pins.get(`${at} ${protocol}`) ?? recipient
      pins.set(`${at} ${protocol}`, pinned)
      return pinned
    },
  }
  const protocol: PaymentProtocol = {
    name,
    offers: ({ headers }) => JSON.parse(headers['offers'] ?? '[]') as Offer[],
    draw: (drawn, { seed, nowMs, lifetimeSeconds }) =>
      authorizationOf({
        terms: drawn,
        validBefore: Math.floor(nowMs / 1000) + lifetimeSeconds,
        paymentId: seed,
      }),
    headers: async ({ paymentId }) => ({ proof: paymentId }),
    receipt: ({ headers }) =>
      headers['receipt'] === undefined
        ? undefined
        : {
            success: headers['receipt'] === 'paid',
            transaction: headers['receipt'] === 'paid' ? '0xab' : null,
            reason: headers['receipt'] === 'paid' ? null : headers['receipt'],
          },
    async fate() {
      chain.asked += 1
      return chain.fate
    },
  }

  const request = {
    operation: 'company.profile' as const,
    endpoint: `POST ${host}/companies`,
    method: 'POST' as const,
    url: `https://${host}/companies`,
    body: '{"a":1}',
    timeoutMs: 1000,
    decode: (body: string) => ({ outcome: 'found' as const, data: JSON.parse(body) as never }),
  }
  const purchaseOf = (slug: string): Purchase => {
    const key = lookupKey('company.profile', `profnet.example/company/${slug}`)
    return { key, buys: [key], runId: 'run', connector: 'csv', lane: 'background', request }
  }
  const purchase = purchaseOf('acme')

  function journaled(change: Partial<Charge> = {}): Charge {
    return {
      id: 'charge 1',
      lookupKey: purchase.key,
      attempt: 1,
      runId: 'run',
      state: 'journaled',
      authorization: authorizationOf({}),
      url: request.url,
      body: request.body,
      sends: 0,
      createdAt: now(),
      sentAt: null,
      reason: null,
      ...change,
    }
  }

  function authorizationOf(change: Partial<Authorization>): Authorization {
    return {
      terms: termsOf(),
      payer: '0xpayer',
      nonce: '0x00',
      validAfter: 0,
      validBefore: clockMs / 1000 + 300,
      paymentId: 'drawn before',
      ...change,
    }
  }

  function termsOf(change: Partial<Terms> = {}): Terms {
    const { amount, ...offer } = offerOf(name)
    return { ...offer, amountAtomic: BigInt(amount), ...change }
  }

  const options: PayerOptions = {
    journal,
    terms,
    protocols: [protocol],
    policy: {
      ...basePolicy,
      maxPriceAtomic: 10_000n,
      recipients: [payTo],
      cardProfiles: ['profile_1'],
      order: [name],
    },
    async acquirePermit(lane, operation) {
      events.push(`permit ${lane} ${operation}`)
      return { ready: async () => {}, done: async (response) => void events.push(`done ${response?.status}`) }
    },
    async send(sent) {
      requests.push(sent)
      events.push(`send ${sent.headers?.['proof'] ?? 'without proof'}`)
      const reply = script.shift()
      if (!reply) throw new Error('nothing is scripted for this request')
      if (reply instanceof Error) throw reply
      return reply
    },
    funds: {
      async assertCover(amountAtomic) {
        events.push(`cover ${amountAtomic}`)
        if (cannotCover) throw new BudgetExhaustedError('wallet_empty', 'too little')
      },
      foundEmpty: () => new BudgetExhaustedError('wallet_empty', 'found empty'),
    },
    budgetLines: ({ runId, connector, now: at, currency }) => [
      { scope: [runId, connector, at.toISOString(), currency].join(' '), capAtomic: 1n },
    ],
    freshUntil: (_, outcome, at) => new Date(at.getTime() + (outcome === 'found' ? 90 : 30) * 86_400_000),
    errorFor: ({ status }) => new RetriableError(`http_${status}`, `answered ${status}`),
    ledgerId: 'ledger',
    lifetimeSeconds: 300,
    rebuyLost: true,
    onRequest: (runId, response) => void events.push(`request of ${runId}: ${response?.status}`),
    now,
  }

  return {
    options,
    protocol,
    purchase,
    purchaseOf,
    events,
    requests,
    reservations,
    receipts,
    answers,
    charges,
    chain,
    book,
    pins,
    journalSays,
    now,
    termsOf,
    unused: () => script.length,
    script: (...replies: Reply[]) => void script.push(...replies),
    pass: (seconds: number) => void (clockMs += seconds * 1000),
    emptyWallet: () => void (cannotCover = true),
    /** Puts a charge into the journal that an earlier try left there. */
    leave(change: Partial<Charge> & { terms?: Partial<Terms>; secondsLeft?: number } = {}): Charge {
      const { terms: ofTerms, secondsLeft = 300, ...rest } = change
      const authorization = authorizationOf({
        terms: termsOf(ofTerms),
        validBefore: clockMs / 1000 + secondsLeft,
      })
      const left = journaled({ authorization, ...rest })
      charges.push(left)
      return left
    },
  }
}
