import { PolicyDeniedError } from '../../domain/errors.ts'
import type { Atomic } from '../../domain/money.ts'
import type { PaymentProtocol, Protocol, ResponseHead, Terms } from '../../domain/payment.ts'
import type { ChargeJournal, TermsCache } from '../../domain/ports/charge-journal.ts'
import { slotOf } from '../../domain/planning/step.ts'
import { capOf, capsOf } from '../../domain/planning/prices.ts'
import { maxChallengeLength, oversizedPlace } from './challenge-limits.ts'
import { chooseTerms, stillPasses, type Asked, type SpendingPolicy } from './spending-policy.ts'
import type { Purchase } from '../purchase.ts'

export interface AdmissionOptions {
  journal: Pick<ChargeJournal, 'recordRefusal'>
  terms: TermsCache
  /** Called with the price of every challenge for one lookup that is accepted, or refused for its price alone. Must not throw. */
  onTerms?: (endpoint: string, terms: Pick<Terms, 'protocol' | 'amountAtomic'>) => void
  protocols: readonly PaymentProtocol[]
  policy: SpendingPolicy
  /** Returns terms that need no challenge, for direct access by API key. Throws PolicyDeniedError above the caps. */
  fixedTerms?: ((purchase: Purchase, capAtomic: Atomic) => Terms) | undefined
  now: () => Date
  /** Returns the body as it leaves the transport, which may change it. A challenge may name the digest of that body. */
  wireBody?: (body: string) => string
}

/** Passes challenges through the spending policy. */
export interface Admission {
  /**
   * Returns terms that were admitted before and are still valid. Throws the last PolicyDeniedError again for a short
   * pause after a refusal, so that the server is not asked in vain.
   */
  remembered(purchase: Purchase): Promise<Terms | undefined>
  /**
   * Checks the challenge of a 402. Terms that pass are remembered for the endpoint, unless they are valid for one
   * lookup only.
   */
  admit(purchase: Purchase, response: ResponseHead): Promise<Terms>
  /** Drops the remembered terms. Called when the server no longer accepts them. */
  forget(endpoint: string): Promise<void>
}

const refusalPauseMs = 30_000

function refuseOversized(response: ResponseHead): void {
  const found = oversizedPlace(response)
  if (!found) return
  throw new PolicyDeniedError(
    'challenge_size',
    `the challenge in ${found.place} has ${found.length} characters; at most ${maxChallengeLength} are read`,
  )
}

export function createAdmission(options: AdmissionOptions): Admission {
  const { terms: book, now } = options
  const refused = new Map<string, { error: PolicyDeniedError; untilMs: number }>()
  /** A refusal counts for its step alone: another one of the same endpoint may have a higher cap. */
  const refusalKey = ({ buys, request: { endpoint } }: Purchase): string =>
    [endpoint, ...new Set(buys.map(slotOf)), buys.length].join(' ')

  async function choose(purchase: Purchase, response: ResponseHead): Promise<Terms> {
    const { request } = purchase
    const host = new URL(request.url).host
    const offers = options.protocols.flatMap((protocol) => protocol.offers(response))
    if (offers.length === 0) refuseOversized(response)
    const pins = new Map<Protocol, string | undefined>()
    for (const { name } of options.protocols) pins.set(name, await book.pinnedRecipient(host, name))
    const asked = askedOf(purchase)
    const terms = chooseTerms(offers, options.policy, (protocol) => pins.get(protocol), asked)
    const pinned = await book.pinRecipient(host, terms.protocol, terms.payTo)
    // Two processes may see their first challenges at the same time: the recipient that was pinned first is the one
    // allowed.
    if (options.policy.recipients.length === 0 && pinned.toLowerCase() !== terms.payTo.toLowerCase()) {
      throw new PolicyDeniedError(
        'recipient',
        `recipient ${terms.payTo} is not the recipient first seen for ${host}`,
      )
    }
    return terms
  }

  async function standing(
    termsOf: (purchase: Purchase, cap: Atomic) => Terms,
    purchase: Purchase,
  ): Promise<Terms> {
    try {
      return termsOf(purchase, capFor(purchase))
    } catch (error) {
      if (error instanceof PolicyDeniedError) await record(purchase, error)
      throw error
    }
  }

  function record(
    { key, runId, request }: Purchase,
    { code: rule, message }: PolicyDeniedError,
  ): Promise<void> {
    const { endpoint } = request
    return options.journal.recordRefusal({ lookupKey: key, runId, endpoint, rule, message })
  }

  function askedOf(purchase: Purchase): Asked {
    const { url, body } = purchase.request
    const wireBody = options.wireBody?.(body) ?? body
    return {
      url,
      body: wireBody,
      nowMs: now().getTime(),
      maxPriceAtomic: capFor(purchase),
      steps: purchase.buys.map(slotOf),
      capName: capNameOf(purchase),
    }
  }

  function capFor({ buys }: Purchase): Atomic {
    const caps = capsOf(options.policy)
    return buys.reduce((sum, key) => sum + capOf(slotOf(key), caps), 0n)
  }

  function capNameOf({ buys: [key] }: Purchase): string | undefined {
    return key && options.policy.capNames?.[slotOf(key)]
  }

  return {
    async remembered(purchase) {
      if (options.fixedTerms) return standing(options.fixedTerms, purchase)
      const { endpoint } = purchase.request
      const terms = await book.terms(endpoint)
      // The settings may have changed since these terms were remembered. Terms that the current policy refuses are
      // requested and checked again.
      if (terms && stillPasses(terms, options.policy, askedOf(purchase))) return terms
      const refusal = refused.get(refusalKey(purchase))
      if (refusal && refusal.untilMs > now().getTime()) throw refusal.error
      return undefined
    },

    async admit(purchase, response) {
      const { endpoint } = purchase.request
      try {
        const terms = await choose(purchase, response)
        if (!terms.singleUse) await book.remember(endpoint, terms)
        if (purchase.buys.length === 1) options.onTerms?.(endpoint, terms)
        return terms
      } catch (error) {
        if (error instanceof PolicyDeniedError) {
          const told = priceTold(error)
          if (told && purchase.buys.length === 1) options.onTerms?.(endpoint, told)
          refused.set(refusalKey(purchase), { error, untilMs: now().getTime() + refusalPauseMs })
          await record(purchase, error)
        }
        throw error
      }
    },

    forget: (endpoint) => book.forget(endpoint),
  }
}

/** Returns the price that a refused challenge asked; undefined for one that was refused for something else. */
function priceTold({
  details: { protocol, amountAtomic },
}: PolicyDeniedError): Pick<Terms, 'protocol' | 'amountAtomic'> | undefined {
  return typeof amountAtomic === 'string'
    ? { protocol: protocol as Protocol, amountAtomic: BigInt(amountAtomic) }
    : undefined
}
