import type { TaskStatus } from '../../domain/words.ts'
import { openTaskStatuses } from '../../domain/words.ts'
import type { TaskViews } from '../../store/runs/task-view.ts'

interface TaskState {
  id: bigint
  status: TaskStatus
  reason: string | null
}

export interface TaskWatch {
  /**
   * Resolves to true when no task is open any more; to false at `untilMs` (of `performance.now()`) or when the signal
   * aborts. A parked task is not open, because it waits longer than a caller would.
   */
  waitUntilDone(ids: readonly bigint[], options: { untilMs: number; signal: AbortSignal }): Promise<boolean>
  /** Calls back after each change from `seen`. Returns a function that stops it. */
  follow(id: bigint, seen: Omit<TaskState, 'id'>, onChange: () => void): () => void
  close(): void
}

interface Watcher {
  ids: ReadonlySet<bigint>
  onStates: (states: ReadonlyMap<bigint, TaskState>) => void
}

/** One who waits is told soon. With many the question is larger, and the embedded ledger has other work for them. */
const everyMs = { few: 50, many: 150 }
const mostOfFew = 10

export function isOpen(status: TaskStatus): boolean {
  return (openTaskStatuses as readonly TaskStatus[]).includes(status)
}

/**
 * Watches tasks by polling the ledger. Events of this process would miss changes by others, and the embedded database has
 * no LISTEN. One query every 50 to 150 ms serves all watchers; without watchers there is no query.
 */
export function createTaskWatch(
  views: Pick<TaskViews, 'states'>,
  onError: (error: unknown) => void,
): TaskWatch {
  const watchers = new Set<Watcher>()
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  function add(watcher: Watcher): () => void {
    watchers.add(watcher)
    // The first watcher polls at once, because a task answered from the ledger has ended already.
    if (timer === undefined) schedule(0)
    return () => {
      watchers.delete(watcher)
    }
  }

  function schedule(ms: number): void {
    if (isClosed || watchers.size === 0) return
    timer = setTimeout(() => void poll(), ms)
  }

  async function poll(): Promise<void> {
    const polled = [...watchers]
    try {
      const ids = [...new Set(polled.flatMap((watcher) => [...watcher.ids]))]
      const states = new Map((await views.states(ids)).map((state) => [state.id, state]))
      for (const watcher of polled) if (watchers.has(watcher)) watcher.onStates(states)
    } catch (error) {
      onError(error)
    } finally {
      timer = undefined
      schedule(watchers.size > mostOfFew ? everyMs.many : everyMs.few)
    }
  }

  return {
    async waitUntilDone(ids, { untilMs, signal }) {
      const leftMs = untilMs - performance.now()
      if (signal.aborted || leftMs <= 0) return false
      return new Promise<boolean>((resolve) => {
        const limit = setTimeout(end, leftMs, false)
        const onAbort = () => end(false)
        signal.addEventListener('abort', onAbort, { once: true })
        const leave = add({
          ids: new Set(ids),
          onStates(states) {
            if (ids.every((id) => !isOpen(states.get(id)?.status ?? 'skipped'))) end(true)
          },
        })
        function end(isSettled: boolean): void {
          clearTimeout(limit)
          signal.removeEventListener('abort', onAbort)
          leave()
          resolve(isSettled)
        }
      })
    },

    follow(id, seen, onChange) {
      let last = textOf(seen)
      return add({
        ids: new Set([id]),
        onStates(states) {
          const state = states.get(id)
          if (!state || textOf(state) === last) return
          last = textOf(state)
          onChange()
        },
      })
    },

    close() {
      isClosed = true
      clearTimeout(timer)
      watchers.clear()
    },
  }
}

function textOf({ status, reason }: Omit<TaskState, 'id'>): string {
  return `${status} ${reason}`
}
