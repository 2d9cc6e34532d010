import { describeError } from '../../../domain/errors.ts'
import { counted } from '../../../domain/values/counted.ts'
import type { ListAction, ListJob } from '../../../http/desk/model/lists/list-actions.ts'
import type { Context } from '../../context/context.ts'
import { applyList } from '../../lists/making/apply-list.ts'
import { planList } from '../../lists/making/plan-list.ts'
import { fetchList, type Fetched } from '../../lists/pages/fetch-list.ts'
import { listCalls, listNamed } from '../../lists/pages/list-calls.ts'
import { readPlan } from '../../runs/apply-plan.ts'
import { withConnector } from '../../context/connectors.ts'
import { chargesText } from '../../service/own-charges.ts'

/** So many ended actions are remembered for their pages. */
const mostJobs = 50

export interface ListJobs {
  start(
    list: string,
    action: ListAction,
    by: string,
    onEnd: (figures: Record<string, number | string>) => Promise<void>,
  ): boolean
  of(list: string): ListJob | undefined
  /** Resolves when no action is at work any more. */
  idle(): Promise<void>
}

interface Result {
  text: string
  isDone: boolean
  runId?: string
  figures: Record<string, number | string>
}

/**
 * Carries out actions on lists from the desk, as `paydirt lists` and `paydirt apply` do from the command line; one at a time for each list.
 * Crash window: a process that ends in the middle leaves the pages and records that are there; the same action, from here or from there,
 * goes on behind them.
 */
export function createListJobs(context: Context, signal: AbortSignal, onChange: () => void): ListJobs {
  const jobs = new Map<string, ListJob>()
  const atWork = new Set<Promise<void>>()

  async function buy(
    list: string,
    job: ListJob,
    options: { budgetAtomic: bigint; pages?: number; reachableOnly: boolean },
  ): Promise<Result> {
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

  async function work(list: string, action: ListAction, job: ListJob): Promise<Result> {
    if (action.kind === 'preview') return buy(list, job, { ...action, pages: 1, reachableOnly: true })
    if (action.kind === 'fetch') return buy(list, job, action)
    const { connector: name } = listNamed(context.config, list).into
    return withConnector(context, name, async (connector): Promise<Result> => {
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

  async function carryOut(
    list: string,
    action: ListAction,
    job: ListJob,
    onEnd: (figures: Record<string, number | string>) => Promise<void>,
  ): Promise<void> {
    try {
      const { figures, ...ended } = await work(list, action, job)
      job.ended = ended
      await onEnd(figures)
    } catch (error) {
      job.ended ??= { text: describeError(error), isDone: false }
      context.log.warn(
        { list, problem: describeError(error) },
        'an action on a list from the desk has failed',
      )
    } finally {
      onChange()
    }
  }

  return {
    start(list, action, by, onEnd) {
      const last = jobs.get(list)
      if (last && last.ended === undefined) return false
      const { kind } = action
      const planId = 'planId' in action ? action.planId : undefined
      const job: ListJob = { kind, planId, by, startedAt: context.now(), progress: '', ended: undefined }
      jobs.delete(list)
      jobs.set(list, job)
      for (const [name, { ended }] of jobs) if (jobs.size > mostJobs && ended) jobs.delete(name)
      const done = carryOut(list, action, job, onEnd).finally(() => atWork.delete(done))
      atWork.add(done)
      return true
    },

    of: (list) => jobs.get(list),

    async idle() {
      await Promise.all(atWork)
    },
  }
}

function boughtResult({ end, reason, bought, charges, list }: Fetched): Result {
  const isDone = end === 'complete' || end === 'pages'
  const why = isDone ? '' : `: ${end === 'interrupted' ? 'stopped' : (reason ?? end)}`
  return {
    text: `${counted(bought, 'page')} bought, ${chargesText(charges)}; ${counted(list.rows, 'row')} in the ledger${why}`,
    isDone,
    figures: { end, bought, rows: list.rows, cost: chargesText(charges) },
  }
}
