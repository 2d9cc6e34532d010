import { listRowOf, rowIdName } from '../../../domain/lists/list-row.ts'
import { firstPageDigest } from '../../../store/lists/first-page.ts'
import { objectOfList } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { faultsOf } from '../../service/call-result.ts'
import { callOf, type ListCalls } from '../pages/list-calls.ts'
import { freshPage } from '../pages/read-list.ts'

/** Returns what the fresh first page of a part tells: its digest, and the faults for which nothing may be made of it. */
export async function readFirstPage(
  context: Pick<Context, 'lookups' | 'now' | 'config'>,
  calls: ListCalls,
  part: number,
): Promise<{ digest: string; freshUntil: Date; faults: string[] } | undefined> {
  const call = callOf(calls, part)
  const fresh = await freshPage(context, call)
  if (!fresh) return undefined
  const { page, freshUntil } = fresh
  const idName = rowIdName(call.operation, call.contract.answer.rows?.id.value)
  const hosts = context.config.networkHosts
  const rows = page.rows.map((row) => ({
    row: listRowOf(objectOfList(calls.settings), row, { page: 1, idName, hosts }),
  }))
  return { digest: firstPageDigest({ total: page.total, rows }), freshUntil, faults: faultsOf(call, page) }
}
