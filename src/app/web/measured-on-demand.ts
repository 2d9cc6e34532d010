import type { Meter } from '../../domain/ports/meter.ts'
import type { TaskWatch } from '../../http/tasks/task-watch.ts'
import type { OnDemand } from '../../producers/on-demand.ts'
import type { TaskViews } from '../../store/runs/task-view.ts'

/** A request of a person that has not ended by then counts as one that nobody waits for any more. */
const longestMs = 60_000

/**
 * Returns the producer with the requests of persons measured, from the request to the end of all its records. It is measured
 * where the request came in, so that the time in the queue and the write-back of other processes are part of it. A repeat of a
 * request that made no task is none. A process that ends does not count the requests that are open.
 */
export function measuredOnDemand(
  onDemand: OnDemand,
  {
    watch,
    views,
    meter,
    stopping,
    onError,
  }: {
    watch: Pick<TaskWatch, 'waitUntilDone'>
    views: Pick<TaskViews, 'states'>
    meter: Pick<Meter, 'onDemand'>
    stopping: AbortSignal
    onError: (error: unknown) => void
  },
): OnDemand {
  async function follow(connector: string, ids: readonly bigint[], startedMs: number): Promise<void> {
    const isDone = await watch.waitUntilDone(ids, { untilMs: startedMs + longestMs, signal: stopping })
    if (stopping.aborted) return
    const ms = performance.now() - startedMs
    // A parked task is not open, and yet it has not ended: it waits for a cap or for something that a person must fix.
    const states = isDone ? await views.states([...ids]) : []
    const hasEnded = isDone && states.every(({ status }) => status !== 'parked')
    meter.onDemand(connector, hasEnded ? 'ended' : 'waiting', ms)
  }

  return {
    ...onDemand,
    async request(asked) {
      const startedMs = performance.now()
      const tasks = await onDemand.request(asked)
      const made = tasks.filter(({ isNew }) => isNew).map(({ taskId }) => taskId)
      if (asked.trigger === 'button' && made.length > 0)
        follow(asked.connector, made, startedMs).catch(onError)
      return tasks
    },
  }
}
