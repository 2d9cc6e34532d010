import { errorCode } from '../domain/error-codes.ts'
import { operationRow } from '../domain/operations.ts'
import type { Charge } from '../domain/payment.ts'
import type { Operation } from '../domain/words.ts'

/** The most times that a charge is sent again after the service has said that it could not finish in time (408). */
const mostRepeats = 6

/**
 * Returns true for a charge by API key that may be sent again: the service has said that it did not finish. An action is never sent
 * twice, whatever was answered; a reading decides what became of it (docs/decisions/0025-actions.md).
 */
export function maySendAgain(charge: Charge, operation: Operation): boolean {
  return isNotInTime(charge) && operationRow(operation).kind !== 'action'
}

/**
 * Returns true for a charge whose last word is the service's own, that it did not finish. From `markSent` on a charge counts as
 * sent, with whatever that brings: killed there, one by API key is in doubt and is not sent again
 * (docs/decisions/0027-not-in-time.md).
 */
function isNotInTime({ state, reason }: Charge): boolean {
  return state === 'in_doubt' && reason === errorCode.notInTime
}

export function isRepeatedEnough(charge: Charge): boolean {
  return isNotInTime(charge) && charge.sends > mostRepeats
}
