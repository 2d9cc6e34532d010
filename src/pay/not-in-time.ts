import { errorCode } from '../domain/error-codes.ts'
import type { Charge } from '../domain/payment.ts'

/** The most times that a charge is sent again after the service has said that it could not finish in time (408). */
const mostRepeats = 6

/**
 * Returns true for a charge whose last word is the service's own, that it did not finish. From `markSent` on a charge counts as
 * sent, with whatever that brings: killed there, one by API key is in doubt and is not sent again
 * (docs/decisions/0027-not-in-time.md).
 */
export function isNotInTime({ state, reason }: Charge): boolean {
  return state === 'in_doubt' && reason === errorCode.notInTime
}

export function isRepeatedEnough(charge: Charge): boolean {
  return isNotInTime(charge) && charge.sends > mostRepeats
}
