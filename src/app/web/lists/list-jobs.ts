import { counted } from '../../../domain/values/counted.ts'
import type { OnJobEnd } from '../../../http/desk/model/desk-job.ts'
import type { ListAction, ListJob } from '../../../http/desk/model/lists/list-actions.ts'
import type { Context } from '../../context/context.ts'
import { applyList } from '../../lists/making/apply-list.ts'
import { planList } from '../../lists/making/plan-list.ts'
import { fetchList, type Fetched } from '../../lists/pages/fetch-list.ts'
import { listCalls, listNamed } from '../../lists/pages/list-calls.ts'
import { readPlan } from '../../runs/apply-plan.ts'
import { withConnector } from '../../context/connectors.ts'
import { chargesText } from '../../service/own-charges.ts'
import { createDeskJobs, type JobResult } from '../desk-jobs.ts'

export interface ListJobs {
  start(list: string, action: ListAction, by: string, onEnd: OnJobEnd): boolean
  of(list: string): ListJob | undefined
  /** Resolves when no action is at work any more. */
  idle(): Promise<void>
}

/**
 * Carries out actions on lists from the desk, as `paydirt lists` and `paydirt apply` do from the command line; one at a time for each list.
 * Crash window: a process that ends in the middle leaves the pages and records that are there; the same action, from here or from there,
 * goes on behind them.
 */
export function createListJobs(context: Context, signal: AbortSignal, onChange: () => void): ListJobs {
  const jobs = createDeskJobs<ListJob>(context, { place: 'lists', onChange })

  async function buy(
    list: string,
    job: ListJob,
    options: { budgetAtomic: bigint; pages?: number; reachableOnly: boolean },
  ): Promise<JobResult> {
    const calls = await listCalls(context, list, { asks: true, reads: signal })
    const fetched = await fetchList(context, calls, {
      ...options,
      signal,
      onExcluding: ({ records, connector, entity }) => {
        job.progress = `${counted(records, 'record')} of ${connector} ${entity} to leave out`
      },
      onPage: ({ pages, rows, total }) => {
        job.progress = `${counted(pages, 'page')}, ${rows} of ${total ?? '?'} rows`
      },
    })
    return boughtResult(fetched)
  }

  async function work(list: string, action: ListAction, job: ListJob): Promise<JobResult> {
    if (action.kind === 'preview') return buy(list, job, { ...action, pages: 1, reachableOnly: true })
    if (action.kind === 'fetch') return buy(list, job, action)
    const { connector: name } = listNamed(context.config, list).into
    return withConnector(context, name, async (connector): Promise<JobResult> => {
      const { planId } = action
      if (action.kind === 'plan') {
        const calls = await listCalls(context, list, { asks: false })
        const { creates } = await planList(context, calls, connector, planId, { signal })
        return { text: `${counted(creates, 'record')} would be made`, isDone: true, figures: { creates } }
      }
      const applied = await applyList(context, await readPlan(context, planId), {
        connector,
        signal,
        onProgress: (done, total) => {
          job.progress = `${done} of ${total} rows`
        },
      })
      const { runId, created, exists, rejected, left, end, reason } = applied
      return {
        text: `${counted(created, 'record')} made, ${exists} existed already, ${rejected} rejected, ${left} left out${end === 'finished' ? '' : `; not finished: ${reason ?? 'it was stopped'}`}`,
        isDone: end === 'finished',
        runId,
        figures: { run: runId, created, exists, rejected, left, end },
      }
    })
  }

  return {
    start(list, action, by, onEnd) {
      const planId = 'planId' in action ? action.planId : undefined
      return jobs.start(list, { kind: action.kind, planId, by }, (job) => work(list, action, job), onEnd)
    },
    of: jobs.of,
    idle: jobs.idle,
  }
}

function boughtResult({ end, reason, bought, charges, list }: Fetched): JobResult {
  const isDone = end === 'complete' || end === 'pages'
  const why = isDone ? '' : `: ${end === 'interrupted' ? 'stopped' : (reason ?? end)}`
  return {
    text: `${counted(bought, 'page')} bought, ${chargesText(charges)}; ${counted(list.rows, 'row')} in the ledger${why}`,
    isDone,
    figures: { end, bought, rows: list.rows, cost: chargesText(charges) },
  }
}
