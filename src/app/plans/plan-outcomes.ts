import type { TaskStatus } from '../../domain/words.ts'
import type { PlanPreview } from './preview.ts'

/** The records read, each counted once: they add up to all of them. */
export interface PlanOutcomes {
  /** Records for which something is looked up first. */
  lookUp: number
  /** Records into which values that the ledger has would be written. */
  write: number
  /** Records with nothing to do. */
  unchanged: number
  skipped: number
  rejected: number
}

/** The reason of so many records that end without a lookup or a write. `first` is the first of them. */
export interface PlanReason {
  status: TaskStatus
  reason: string
  count: number
  first: string
}

type Ended = 'unchanged' | 'skipped' | 'rejected'

/** Counts what becomes of each record of a plan, and why. */
export function createPlanOutcomes(counts: Record<TaskStatus, number>, ended: readonly PlanReason[]) {
  const { unchanged, skipped, rejected } = counts
  const outcomes: PlanOutcomes = { lookUp: 0, write: 0, unchanged, skipped, rejected }
  const reasons = new Map<string, PlanReason>(
    ended.filter(({ status }) => isEnd(status)).map((each) => [`${each.status} ${each.reason}`, { ...each }]),
  )

  function end(status: Ended, reason: string, first: string): void {
    outcomes[status] += 1
    const known = reasons.get(`${status} ${reason}`)
    if (known) known.count += 1
    else reasons.set(`${status} ${reason}`, { status, reason, count: 1, first })
  }

  return {
    add({ task, wanted, preview, end: ends }: PlanPreview): void {
      if (wanted !== undefined) outcomes.lookUp += 1
      else if (preview) outcomes.write += 1
      else if (ends) end(ends.status, ends.reason, task.recordId)
      // Without a key the record has ended in the scan, and is among the counts.
      else if (task.lookupKey !== null)
        end('unchanged', 'nothing that is known may be written', task.recordId)
    },

    sum(): { outcomes: PlanOutcomes; reasons: PlanReason[] } {
      return { outcomes, reasons: [...reasons.values()].sort((a, b) => b.count - a.count) }
    },
  }
}

function isEnd(status: TaskStatus): status is Ended {
  return status === 'unchanged' || status === 'skipped' || status === 'rejected'
}

/** Returns the outcomes in words; those of no record are left out. */
export function outcomesText({ lookUp, write, unchanged, skipped, rejected }: PlanOutcomes): string {
  const parts: [number, string][] = [
    [lookUp, 'to look up'],
    [write, 'to fill from known answers'],
    [unchanged, 'with nothing to do'],
    [skipped, 'skipped'],
    [rejected, 'rejected'],
  ]
  return parts.flatMap(([count, words]) => (count > 0 ? [`${count} ${words}`] : [])).join(', ')
}
