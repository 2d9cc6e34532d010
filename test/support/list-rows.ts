import { judgedRows, type JudgedStoredRow } from '../../src/app/lists/judging/judged-rows.ts'
import type { ListCalls } from '../../src/app/lists/pages/list-calls.ts'
import type { Context } from '../../src/app/context/context.ts'

/** Returns all rows of a list with their verdicts, as far as the ledger has them. */
export async function allJudged(
  context: Context,
  calls: ListCalls,
  options: { atOnce?: number } = {},
): Promise<JudgedStoredRow[]> {
  return (await Array.fromAsync(judgedRows(context, calls, options))).flat()
}

export async function allRows(context: Context, calls: ListCalls) {
  return (await allJudged(context, calls)).map(({ row }) => row)
}
