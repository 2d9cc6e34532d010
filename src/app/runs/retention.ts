import { eraseOldAnswers } from '../../store/subjects/erase-old-answers.ts'
import { eraseOldListRows } from '../../store/lists/erase-rows.ts'
import { eraseOldSignals } from '../../store/signals/erase-old-signals.ts'
import { eraseOldActionAnswers } from '../../store/subjects/erase-actions.ts'
import type { Context } from '../context/context.ts'

const dayMs = 86_400_000
const pageSize = 500

/** Erases answers, rows of lists, and signals that are older than the configuration allows. Returns how many. */
export async function enforceRetention(
  context: Pick<Context, 'database' | 'config' | 'now'>,
): Promise<number> {
  const { answersKeptDays, signalsKeptDays } = context.config
  const rules = [
    ...(answersKeptDays === undefined
      ? []
      : [eraseOldAnswers, eraseOldActionAnswers, eraseOldListRows].map((erase) => ({
          erase,
          days: answersKeptDays,
        }))),
    { erase: eraseOldSignals, days: signalsKeptDays },
  ]
  let erased = 0
  for (const { erase, days } of rules) {
    const before = new Date(context.now().getTime() - days * dayMs)
    for (let count = pageSize; count === pageSize; erased += count)
      count = await erase(context.database.db, before, pageSize)
  }
  return erased
}
