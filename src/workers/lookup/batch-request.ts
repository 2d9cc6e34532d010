import type { PaidRequest } from '../../pay/purchase.ts'
import type { PreparedBatch } from '../../service/batch.ts'

/** A request for several lookups as something to be paid for. What it tells stands with its parts. */
export function batchRequest(bulk: PreparedBatch): PaidRequest {
  const { sent: _, skipped: __, decode, ...request } = bulk
  return { ...request, decode: () => ({ outcome: 'found', data: null }), parts: decode }
}
