import type { PaidRequest } from '../../pay/purchase.ts'
import type { PreparedBatch } from '../../service/batch.ts'

/** Returns a batch as one purchase. The answers are in its parts. */
export function batchRequest(bulk: PreparedBatch): PaidRequest {
  const { request: _, sent: __, skipped: ___, decode, ...request } = bulk
  return { ...request, decode: () => ({ outcome: 'found', data: null }), parts: decode }
}
