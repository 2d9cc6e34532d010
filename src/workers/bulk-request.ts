import type { PaidRequest } from '../pay/purchase.ts'
import type { PreparedBulk } from '../service/bulk.ts'

/** A request for several lookups as something to be paid for. What it tells stands with its parts. */
export function bulkRequest({ sent: _, skipped: __, decode, ...bulk }: PreparedBulk): PaidRequest {
  return { ...bulk, decode: () => ({ outcome: 'found', data: null }), parts: decode }
}
