import { PaydirtError, RetriableError, describeError } from '../../domain/errors.ts'
import { formatUsd } from '../../domain/money.ts'
import type { HubspotCallbacks } from '../../connectors/hubspot/callbacks.ts'
import { workflowTimeoutMs } from '../../http/routes/hubspot-workflow.ts'
import type { TaskView, TaskViews } from '../../store/runs/task-view.ts'
import type { WorkflowCallbacks } from '../../store/messages/workflow-callbacks.ts'
import { startPollLoop, type PollLoop } from '../../timing/poll-loop.ts'

export interface WorkflowCallbackOptions {
  callbacks: WorkflowCallbacks
  hubspot: HubspotCallbacks
  views: Pick<TaskViews, 'get'>
  now: () => Date
  onError: (error: unknown) => void
  everyMs?: number
}

const leaseMs = 60_000
/** So long before HubSpot stops waiting, it is told that the task is still parked. */
const marginMs = 3_600_000

/**
 * Completes the workflow executions whose task has ended. An execution is leased and stays in the ledger until HubSpot
 * confirms the completion: completing it twice is harmless, and a missed completion would stop a workflow for a day.
 */
export function startWorkflowCallbacks(options: WorkflowCallbackOptions): PollLoop {
  const { callbacks, now } = options

  async function completeDue(): Promise<void> {
    const latest = new Date(now().getTime() - workflowTimeoutMs + marginMs)
    const due = await callbacks.lease({ limit: 50, leaseMs, latest })
    const views = new Map(
      (await options.views.get(due.map(({ taskId }) => taskId))).map((view) => [view.id, view]),
    )
    for (const { callbackId, taskId, tries, askedAt } of due) {
      const view = views.get(taskId)
      if (!view) continue
      try {
        const refusal = await options.hubspot.complete(callbackId, outputOf(view))
        await callbacks.finish(callbackId, refusal ? 'given_up' : 'completed', refusal?.refused ?? null)
      } catch (error) {
        if (!(error instanceof PaydirtError)) throw error
        options.onError(error)
        if (now().getTime() - askedAt.getTime() > workflowTimeoutMs)
          await callbacks.finish(callbackId, 'given_up', describeError(error))
        else
          await callbacks.postpone(callbackId, new Date(now().getTime() + waitMs(error, tries)), error.code)
      }
    }
  }

  return startPollLoop({
    name: 'complete workflows',
    work: completeDue,
    pauseMs: options.everyMs ?? 1_000,
    onError: options.onError,
  })
}

function waitMs(error: PaydirtError, tries: number): number {
  const backoffMs = Math.min(300_000, 1_000 * 2 ** tries)
  return error instanceof RetriableError ? Math.max(error.retryAfterMs ?? 0, backoffMs) : backoffMs
}

function outputOf(view: TaskView) {
  return {
    status: view.status,
    reason: view.reason ?? '',
    fieldsFilled: view.status === 'written' ? Object.keys(view.patch ?? {}).length : 0,
    costUsd: Number(formatUsd(view.costAtomic)),
    hs_execution_state: view.status === 'rejected' ? 'FAIL_CONTINUE' : 'SUCCESS',
  }
}
