import { InputError } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { Context } from '../context/context.ts'
import { pageOf } from './call-result.ts'
import type { PlannedCall } from './plan-call.ts'

/**
 * Throws InputError for a page behind the last row, as far as the first page and the one before it tell: the service refuses it, or
 * answers without rows, and is paid for it. Pages that are not fresh any more tell nothing.
 */
export async function assertPageExists(
  { lookups }: Pick<Context, 'lookups'>,
  call: PlannedCall,
): Promise<void> {
  const { operation, key, page = 1 } = call
  const size = call.request['per_page']
  if (page === 1 || typeof size !== 'number') return
  const keys = [page - 1, 1].map((number) => key.replace(/\|\d+$/, `|${number}`) as LookupKey)
  const facts = await lookups.freshFacts(keys)
  for (const fact of keys.flatMap((each) => facts.get(each) ?? [])) {
    const known = pageOf(call, fact)
    // Rows of a wider search tell nothing of this one.
    if (
      !known ||
      known.total === null ||
      known.drift.length + known.ignored.length + known.renamed.length > 0
    )
      continue
    const last = Math.max(1, Math.ceil(known.total / size))
    if (page > last)
      throw new InputError(
        'no_such_page',
        `${operation}: page is ${page}, and its ${known.total} rows are ${last} ${last === 1 ? 'page' : 'pages'} of ${size}, as an answer in the ledger says`,
      )
    return
  }
}
