import type { Verdict } from '../../domain/champions/moved.ts'
import { formatUsd } from '../../domain/money.ts'
import { championsOf, type NewEmployer } from '../../store/champions/champions.ts'
import { championPurse } from '../config/watching/purses.ts'
import type { Context } from '../context/context.ts'
import { listMonth } from '../money/list-months.ts'
import { sinceDayOf } from '../signals/reporting/signals-report.ts'
import { championsNamed } from './candidates.ts'

export interface ReportedChampion {
  record: string
  verdict: Verdict
  /** The domain or profile of the employer that was known. */
  from: string | null
  employer: NewEmployer | null
  /** The record at the new employer: made by a run of ours, or there before. Null: there is none. */
  joined: { state: 'made' | 'there'; record: string } | null
  /** Times as ISO 8601, since a report goes from process to process. */
  leftAt: string | null
  checkedAt: string
}

/** The state of a watch, as the ledger has it. */
export interface ChampionsReport {
  champions: string
  checked: number
  verdicts: Partial<Record<Verdict, number>>
  /** Those who have left within the period, the latest first. */
  left: ReportedChampion[]
  /** Those of whom nothing could be said for certain: two current jobs, or too little told. */
  unclear: ReportedChampion[]
  month: { month: string; spentUsd: string; capUsd: string | null }
}

/** Reports the people of a watch. Reads the ledger alone. */
export async function championsReport(
  context: Pick<Context, 'config' | 'database' | 'now'>,
  watch: string,
  { since }: { since?: string | undefined } = {},
): Promise<ChampionsReport> {
  championsNamed(context.config, watch)
  const sinceDay = since === undefined ? '' : sinceDayOf(since, context.now())
  const all = await championsOf(context.database.db, watch)
  const verdicts: ChampionsReport['verdicts'] = {}
  for (const { verdict } of all) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
  const reported = all.map(
    ({
      connector,
      entity,
      recordId,
      verdict,
      known,
      employer,
      joined,
      leftAt,
      checkedAt,
    }): ReportedChampion => ({
      record: `${connector}:${entity}:${recordId}`,
      verdict,
      from: known.domain ?? known.profileUrl ?? null,
      employer,
      joined: joined && { state: joined.state, record: `${connector}:${entity}:${joined.recordId}` },
      leftAt: leftAt?.toISOString() ?? null,
      checkedAt: checkedAt.toISOString(),
    }),
  )
  const { month, spentAtomic, capAtomic } = await listMonth(context, championPurse(watch).budget)
  return {
    champions: watch,
    checked: all.length,
    verdicts,
    left: reported.filter(({ leftAt }) => leftAt !== null && leftAt >= sinceDay),
    unclear: reported.filter(({ verdict }) => verdict === 'unclear' || verdict === 'unknown'),
    month: {
      month,
      spentUsd: formatUsd(spentAtomic),
      capUsd: capAtomic === undefined ? null : formatUsd(capAtomic),
    },
  }
}
