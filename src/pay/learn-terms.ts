import type { Terms } from '../domain/payment.ts'
import type { ChargeJournal, StoredAnswer } from '../domain/ports/charge-journal.ts'
import type { SendPermit } from '../domain/ports/send-permit.ts'
import type { createAdmission } from './limits/admission.ts'
import type { createDispatch } from './dispatch.ts'
import type { PayerOptions } from './payer-options.ts'
import type { Purchase } from './purchase.ts'

interface LearnerOptions extends Pick<PayerOptions, 'errorFor' | 'onRequest'> {
  journal: Pick<ChargeJournal, 'storeFreeAnswer'>
  admission: ReturnType<typeof createAdmission>
  dispatch: ReturnType<typeof createDispatch>
  acquirePermit: (purchase: Purchase) => Promise<SendPermit>
}

/** Asks for the terms of an endpoint that none are known of. */
export function createTermsLearner(options: LearnerOptions) {
  const probing = new Map<string, Promise<unknown>>()

  /** When many lookups begin at the same time, one of them requests the terms, and the others use its result. */
  async function learnTerms(purchase: Purchase): Promise<Terms | StoredAnswer> {
    const { endpoint } = purchase.request
    const asking = probing.get(endpoint)
    if (asking) {
      await asking.catch(() => {})
      const learned = await options.admission.remembered(purchase)
      if (learned) return learned
    }
    const probed = options.acquirePermit(purchase).then((permit) => probe(purchase, permit))
    probing.set(endpoint, probed)
    return probed.finally(() => {
      if (probing.get(endpoint) === probed) probing.delete(endpoint)
    })
  }

  /** Sends an unpaid request to get the terms. A metered service may answer it for free. */
  async function probe(purchase: Purchase, permit: SendPermit): Promise<Terms | StoredAnswer> {
    const response = await options.dispatch.exchange(purchase.request, {}, permit)
    options.onRequest?.(purchase.runId, response)
    const answer = await options.dispatch.freeAnswer(purchase.request, response)
    if (answer) {
      await options.journal.storeFreeAnswer(purchase.key, answer)
      return answer
    }
    if (response.status !== 402) throw options.errorFor(response, purchase.request)
    return options.admission.admit(purchase, response)
  }

  return learnTerms
}
