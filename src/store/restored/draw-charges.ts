import type { Transaction } from 'kysely'
import type { Authorization } from '../../domain/payment.ts'
import type { Tables } from '../database/tables/schema.ts'
import { findDrawn, type Drawn } from './claim-payments.ts'

/** A charge with the authorization that was drawn for it. */
export interface DrawnCharge<C> {
  charge: C
  id: string
  attempt: number
  authorization: Authorization
  /** The chain has its payment already: nothing is bought, and nothing is reserved. */
  isPaid: boolean
}

interface ToDraw<C> {
  charge: C
  /** Made before, by this ledger. */
  attempts: number
  draw: (attempt: number) => Authorization
}

/**
 * Attempts that are looked at after a restore. Some of those that the backup does not know may have ended unpaid, so the one
 * that was paid need not be the next.
 */
const lookAhead = 6
/** The most charges that a subject may have had before it was forgotten. */
const mostForgotten = 40

/**
 * Draws an authorization for each lookup. A nonce is the same each time that it is drawn for an attempt, so:
 *
 * - one of a payment that was read from the chain after a restore belongs to this lookup, which is not bought again;
 * - one that another charge of the ledger has was used for a subject before it was forgotten: the next attempt is drawn.
 *
 * With `atOnce` nobody looks whether a nonce is known. The ledger takes each once: the charge is refused, and drawn again by looking.
 */
export async function drawCharges<C>(
  tx: Transaction<Tables>,
  charges: readonly ToDraw<C>[],
  { mayClaim, newId, atOnce }: { mayClaim: boolean; newId: () => string; atOnce: boolean },
): Promise<DrawnCharge<C>[]> {
  if (atOnce && !mayClaim)
    return charges.map(({ charge, attempts, draw }) => {
      const attempt = attempts + 1
      return { charge, isPaid: false, id: newId(), attempt, authorization: draw(attempt) }
    })
  const drawn: DrawnCharge<C>[] = []
  let left = charges.map((each) => ({ ...each, first: each.attempts + 1 }))
  for (let round = 0; left.length > 0; round += 1) {
    const looked = left.map((each) => ({
      ...each,
      // In the first round after a restore all attempts that may have been made; otherwise the next one.
      attempts: range(each.first, mayClaim && round === 0 ? lookAhead : 1).map((attempt) => ({
        attempt,
        authorization: each.draw(attempt),
      })),
    }))
    const known = await findDrawn(
      tx,
      looked.flatMap(({ attempts }) => attempts.map(({ authorization }) => authorization.nonce)),
    )
    const again: typeof left = []
    for (const { attempts, ...each } of looked) {
      const of = ({ authorization }: (typeof attempts)[number]) => known.get(authorization.nonce)
      const paid = attempts.find((attempt) => of(attempt)?.isUnclaimed)
      const free = attempts.find((attempt) => of(attempt) === undefined)
      if (paid) drawn.push({ charge: each.charge, isPaid: true, ...claimed(paid, of(paid)!) })
      // The nonce of some methods is the server's: no other attempt would have another, and the journal refuses it.
      else if (free || round >= mostForgotten || isSameForAll(each)) {
        drawn.push({ charge: each.charge, isPaid: false, id: newId(), ...(free ?? attempts[0]!) })
      } else again.push({ ...each, attempts: each.first, first: each.first + attempts.length })
    }
    left = again
  }
  return drawn
}

function isSameForAll({ draw, first }: { draw: (attempt: number) => Authorization; first: number }): boolean {
  return draw(first).nonce === draw(first + 1).nonce
}

/** The bytes that were sent: amount, recipient and times as the chain has them. */
function claimed(
  { attempt, authorization }: { attempt: number; authorization: Authorization },
  { id, amountAtomic, payTo, validAfter, validBefore }: Drawn,
): Pick<DrawnCharge<unknown>, 'id' | 'attempt' | 'authorization'> {
  const terms = { ...authorization.terms, amountAtomic, payTo: payTo ?? authorization.terms.payTo }
  return { id, attempt, authorization: { ...authorization, terms, validAfter, validBefore } }
}

function range(first: number, count: number): number[] {
  return Array.from({ length: count }, (_, index) => first + index)
}
