import { dayBefore, scoreChange, utcDay } from '../../../domain/signals/change.ts'
import { reasonOf } from '../../../domain/signals/reason.ts'
import { scoreOf } from '../../../domain/signals/score.ts'
import { pages } from '../../../store/database/parameters.ts'
import { accountsById, signalsOf } from '../../../store/signals/kept-signals.ts'
import { saveScores, scoreHistory } from '../../../store/signals/score-days.ts'
import type { Context } from '../../context/context.ts'
import type { ScoredPipeline } from '../reporting/scored-pipelines.ts'

/** The score of an account in a pipeline, as it is written into the CRM. */
export interface AccountScore {
  /** In points, with at most two decimals. */
  score: number
  /** The same as a difference; null where no score was computed seven days ago or before. */
  change7d: number | null
  /** The strongest addends in words; null where nothing counts. */
  reason: string | null
}

const pageSize = 500

/**
 * Computes the scores of accounts, keeps them as those of the day, and returns them by account. Called with all accounts that a pipeline's
 * source has, also those that were not checked: an account without a score on the pipeline's last day counts as gone.
 */
export async function scoreAccounts(
  { database: { db } }: Pick<Context, 'database'>,
  name: string,
  { types, rules }: ScoredPipeline,
  { accounts: all, at }: { accounts: readonly bigint[]; at: Date },
): Promise<Map<bigint, AccountScore>> {
  const day = utcDay(at)
  const scores = new Map<bigint, AccountScore>()
  for (const ids of pages(all, pageSize)) {
    const accounts = await accountsById(db, ids)
    const signals = await signalsOf(db, ids)
    const history = await scoreHistory(db, name, ids, dayBefore(day, 7))
    const rows = [...accounts.values()].map(({ id, stage }) => {
      const watched = (signals.get(id) ?? []).filter(({ type }) => types.includes(type))
      const { hundredths, addends } = scoreOf(watched, rules, at)
      const change = scoreChange(history.get(id) ?? [], { day, hundredths })
      scores.set(id, {
        score: hundredths / 100,
        change7d: change === null ? null : change / 100,
        reason: reasonOf(addends),
      })
      return { accountId: id, hundredths, stage }
    })
    await saveScores(db, name, day, rows)
  }
  return scores
}
