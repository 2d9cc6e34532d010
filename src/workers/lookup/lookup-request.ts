import { isBatchKey } from '../../domain/keys.ts'
import type { OperationPart } from '../../store/contract/operation-states.ts'
import type { LookupRow } from '../../store/ledger/lookups.ts'
import type { Probation } from './probation.ts'

/** The answer to a request, as far as it says whether the operation is as expected. */
export type Asked = Awaited<ReturnType<Parameters<Probation['guard']>[1]['single']>>

/** Returns the request of its operation that a lookup makes. */
export function partOf({ key, queryId }: LookupRow): OperationPart {
  if (!isBatchKey(key)) return ''
  return queryId ? 'answer' : 'batch'
}

/** Names what a lookup's request is sent to. */
export function endpointOf({ key, operation, queryId }: LookupRow): string {
  return [operation, isBatchKey(key) && 'batch', queryId && 'answer'].filter(Boolean).join(' ')
}
