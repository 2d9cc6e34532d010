import type { AccessRefusedError } from '../../domain/errors.ts'
import type { OperationPlace } from '../../store/contract/operation-states.ts'

/** Returns why an operation is stopped, and what a person does about it. */
export function stopReason({ operation }: Pick<OperationPlace, 'operation'>, why: string): string {
  return `${operation} is stopped: ${why}. Mend it under service.operations in paydirt.config.ts, or ask once more with \`paydirt service retry ${operation}\``
}

/** Returns the reason after a refusal of access. A wrong key says nothing about the address. */
export function refusedReason(
  place: Pick<OperationPlace, 'operation' | 'place'>,
  { details: { status, code } }: Pick<AccessRefusedError, 'details'>,
): string {
  const { operation } = place
  const answer = `${place.place} answers ${status}${code === undefined ? '' : ` (code ${code})`}`
  const retry = `then \`paydirt service retry ${operation}\``
  switch (status) {
    case 401:
      return `${operation} is stopped: the service does not accept the credentials (${answer}). Check PAYDIRT_API_KEY and PAYDIRT_API_KEY_HEADER, or set the key if the operation needs one, ${retry}`
    case 403:
      return `${operation} is stopped: the service refuses access (${answer}). Check PAYDIRT_API_KEY and what its plan includes, or mend path or access under service.operations, ${retry}`
    default:
      return stopReason(place, `${answer}, and no answer has confirmed it`)
  }
}
