import { FatalError } from '../../domain/errors.ts'
import { operationRow } from '../../domain/operations.ts'
import type { Operation } from '../../domain/words.ts'
import type { KnownLimit } from '../../store/contract/known-limits.ts'

/** The code of an answer 416: a page or a quota is beyond its limit. */
const overQuota = 'over_quota'

/**
 * Returns the limit that a refused search tells: the page before the refused one. Returns undefined for the first page, which
 * no limit of pages refuses: a quota is used up.
 */
export function limitTold(
  { operation, body }: { operation: Operation; body: string },
  error: unknown,
  seenAt: Date,
): KnownLimit | undefined {
  if (!(error instanceof FatalError) || error.code !== overQuota) return undefined
  if (operationRow(operation).kind !== 'search') return undefined
  const page = pageOf(body)
  if (page < 2) return undefined
  const code = error.details['code']
  return { operation, name: 'page', value: page - 1, code: code === undefined ? null : String(code), seenAt }
}

function pageOf(body: string): number {
  try {
    const { page } = JSON.parse(body) as { page?: unknown }
    return typeof page === 'number' ? page : 1
  } catch {
    return 1
  }
}
