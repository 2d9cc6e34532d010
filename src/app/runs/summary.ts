import { formatUsd } from '../../domain/money.ts'
import type { TaskStatus } from '../../domain/words.ts'
import type { Run } from '../../store/runs/runs.ts'
import type { LeftOutField } from '../../store/runs/task-progress.ts'
import { madeCounts, type MadeCounts } from '../../store/views/list-results.ts'
import { runFigures, type RunFigures } from '../../store/views/run-figures.ts'
import type { Context } from '../context/context.ts'

/** The summary of a run. Scripts rely on its form. Money is text with six places. */
export interface RunSummary {
  runId: string
  object: string
  connector: string
  records: number
  lookups: { unique: number; paid: number; cached: number; notFound: number; duplicates: number }
  tasks: Record<'written' | 'unchanged' | 'skipped' | 'rejected' | 'parked', number>
  /** The records that a run made of a list, when it is one that makes records. They are counted in `tasks` too. */
  made?: MadeCounts | undefined
  /** `credits`: the credits that direct access charged, when it charged any. */
  spend: { currency: 'USD'; settled: string; inDoubt: string; lost: string; credits?: string | undefined }
  /** The lookups that this run paid for and that found nothing, when there are any. Part of `spend`. */
  withoutResult?: { lookups: number; settled: string; credits?: string | undefined } | undefined
  requests: { sent: number; rateLimited: number }
  /** The reasons why tasks are parked, refused or written in part, the most frequent first. `first` is the first record. */
  reasons?: { status: TaskStatus; reason: string; count: number; first?: string | undefined }[] | undefined
  /** The fields of the recipe that could not be written in so many records, and why: nothing was bought for them. */
  leftOut?: LeftOutField[] | undefined
}

export async function summarise(
  context: Pick<Context, 'database' | 'runs' | 'tasks'>,
  run: Run,
): Promise<RunSummary> {
  const [figures, counts, fresh, reasons, leftOut, made] = await Promise.all([
    runFigures(context.database.db, run.id),
    context.tasks.counts(run.id),
    context.runs.get(run.id),
    context.tasks.reasons(run.id),
    context.tasks.leftOut(run.id),
    madeCounts(context.database.db, [run.id]),
  ])
  const { written, unchanged, skipped, rejected } = counts
  // Unfinished tasks of a run that ended wait for its next start, as parked ones do.
  const parked = counts.parked + counts.queued + counts.looking_up + counts.ready
  const { open: _, ...lookups } = figures.lookups
  return {
    runId: run.id,
    object: run.object,
    connector: run.connector,
    records: fresh?.records ?? 0,
    lookups,
    tasks: { written, unchanged, skipped, rejected, parked },
    made: made.get(run.id),
    spend: {
      currency: 'USD',
      settled: formatUsd(figures.spend.settledAtomic),
      inDoubt: formatUsd(figures.spend.inDoubtAtomic),
      lost: formatUsd(figures.spend.lostAtomic),
      credits: figures.spend.creditsAtomic > 0n ? formatUsd(figures.spend.creditsAtomic) : undefined,
    },
    withoutResult: withoutResult(figures.withoutResult),
    requests: figures.requests,
    reasons: reasons.length > 0 ? reasons : undefined,
    leftOut: leftOut.length > 0 ? leftOut : undefined,
  }
}

function withoutResult({
  lookups,
  settledAtomic,
  creditsAtomic,
}: RunFigures['withoutResult']): RunSummary['withoutResult'] {
  if (lookups === 0) return undefined
  const credits = creditsAtomic > 0n ? formatUsd(creditsAtomic) : undefined
  return { lookups, settled: formatUsd(settledAtomic), credits }
}
