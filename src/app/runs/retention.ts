import { eraseOldAnswers } from '../../store/subjects/erase-old-answers.ts'
import { eraseOldListRows } from '../../store/lists/erase-rows.ts'
import { eraseOldActionAnswers } from '../../store/subjects/erase-actions.ts'
import type { Context } from '../context/context.ts'

const dayMs = 86_400_000
const pageSize = 500

/** Erases answers, and rows of lists, that are older than the configuration allows. Returns how many. */
export async function enforceRetention(
  context: Pick<Context, 'database' | 'config' | 'now'>,
): Promise<number> {
  const { answersKeptDays } = context.config
  if (answersKeptDays === undefined) return 0
  const before = new Date(context.now().getTime() - answersKeptDays * dayMs)
  let erased = 0
  for (const erase of [eraseOldAnswers, eraseOldActionAnswers, eraseOldListRows])
    for (let count = pageSize; count === pageSize; erased += count)
      count = await erase(context.database.db, before, pageSize)
  return erased
}
