import type { Charge } from '../domain/payment.ts'
import type { PaidRequest } from './purchase.ts'

/**
 * Returns the request with the address and body of its charge. Crash window: after the charge was journaled, and before its answer
 * is stored. The settings may give another path or other names of keys when it is sent again, and a server that has taken the
 * payment refuses it beside another request: the paid answer would be lost. A body with secrets is not in the journal, and one that
 * was erased as a forgotten subject's is not there any more.
 */
export function asJournaled({ url, body }: Charge, request: PaidRequest): PaidRequest {
  const isJournaled = request.keptBody === undefined && body !== ''
  return { ...request, url, body: isJournaled ? body : request.body }
}

/** True for a request whose body was erased as a forgotten subject's: it would order something else, or nothing. */
export function isErased({ method, body }: Pick<PaidRequest, 'method' | 'body'>): boolean {
  return method === 'POST' && body === ''
}
