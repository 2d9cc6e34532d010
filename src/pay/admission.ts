import { PolicyDeniedError } from '../domain/errors.ts'
import type { PaymentProtocol, Protocol, ResponseHead, Terms } from '../domain/payment.ts'
import type { ChargeJournal, TermsBook } from '../domain/ports/charge-journal.ts'
import { chooseTerms, type SpendingPolicy } from './policy.ts'
import type { Purchase } from './purchase.ts'

export interface AdmissionOptions {
  journal: Pick<ChargeJournal, 'recordRefusal'>
  terms: TermsBook
  protocols: readonly PaymentProtocol[]
  policy: SpendingPolicy
  /** Terms that stand without a challenge: direct access by API key. */
  standingTerms?: Terms
  now: () => Date
  /** The body as it leaves the transport, where that changes it: a challenge may name its digest. */
  wireBody?: (body: string) => string
}

/** The way of a challenge through the spending policy. */
export interface Admission {
  /**
   * Terms that were let in before and still hold. Throws the PolicyDeniedError of a moment ago while asking again would
   * only be rude.
   */
  remembered(endpoint: string): Promise<Terms | undefined>
  /** Judges the challenge of a 402. Terms that pass are remembered for the endpoint, unless they are for this one lookup. */
  admit(purchase: Purchase, response: ResponseHead): Promise<Terms>
  /** The server no longer takes what was remembered. */
  forget(endpoint: string): Promise<void>
}

const refusalPauseMs = 30_000

export function createAdmission(options: AdmissionOptions): Admission {
  const { terms: book, now } = options
  const refused = new Map<string, { error: PolicyDeniedError; untilMs: number }>()

  async function choose({ request }: Purchase, response: ResponseHead): Promise<Terms> {
    const host = new URL(request.url).host
    const offers = options.protocols.flatMap((protocol) => protocol.offers(response))
    const pins = new Map<Protocol, string | undefined>()
    for (const { name } of options.protocols) pins.set(name, await book.pinnedRecipient(host, name))
    const terms = chooseTerms(offers, options.policy, (protocol) => pins.get(protocol), {
      url: request.url,
      body: options.wireBody?.(request.body) ?? request.body,
      nowMs: now().getTime(),
    })
    const pinned = await book.pinRecipient(host, terms.protocol, terms.payTo)
    // Two processes may see their first challenges at once: whoever pinned first is right.
    if (options.policy.recipients.length === 0 && pinned.toLowerCase() !== terms.payTo.toLowerCase()) {
      throw new PolicyDeniedError(
        'recipient',
        `recipient ${terms.payTo} is not the one first seen for ${host}`,
      )
    }
    return terms
  }

  return {
    async remembered(endpoint) {
      if (options.standingTerms) return options.standingTerms
      const terms = await book.terms(endpoint)
      // Remembered under other settings: what is not configured any more is not paid by.
      if (terms && options.policy.order.includes(terms.protocol)) return terms
      const refusal = refused.get(endpoint)
      if (refusal && refusal.untilMs > now().getTime()) throw refusal.error
      return undefined
    },

    async admit(purchase, response) {
      const { endpoint } = purchase.request
      try {
        const terms = await choose(purchase, response)
        if (!terms.singleUse) await book.remember(endpoint, terms)
        return terms
      } catch (error) {
        if (error instanceof PolicyDeniedError) {
          const { code: rule, message } = error
          const { key: lookupKey, runId } = purchase
          refused.set(endpoint, { error, untilMs: now().getTime() + refusalPauseMs })
          await options.journal.recordRefusal({ lookupKey, runId, endpoint, rule, message })
        }
        throw error
      }
    },

    forget: (endpoint) => book.forget(endpoint),
  }
}
