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
   * Ends when none of the tasks is open any more (true), at `untilMs` (of `performance.now()`) or when the signal fires (false). A parked task
   * is not open: what it waits for takes longer than anybody would.
   */
  waitUntilDone(ids: readonly bigint[], options: { untilMs: number; signal: AbortSignal }): Promise<boolean>
  /** Calls back with the state at once and after each change, until it is told to stop. */
  follow(id: bigint, onState: (state: TaskState) => void): () => void
  close(): void
}

interface Watcher {
  ids: ReadonlySet<bigint>
  onStates: (states: ReadonlyMap<bigint, TaskState>) => void
}

const everyMs = 150

export function isOpen(status: TaskStatus): boolean {
  return (openTaskStatuses as readonly TaskStatus[]).includes(status)
}

/**
 * Watches tasks in the ledger. A task is moved by whichever process has it, so no event of this process tells all, and the
 * embedded database knows no LISTEN: the ledger is asked every 150 ms, in one query for everybody who waits here, and not
 * at all while nobody does.
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
    // Whoever comes does not wait for the next round: what is answered from the ledger has ended already.
    if (timer === undefined) schedule(0)
    return () => {
      watchers.delete(watcher)
    }
  }

  function schedule(ms: number): void {
    if (isClosed || watchers.size === 0) return
    timer = setTimeout(() => void look(), ms)
  }

  async function look(): Promise<void> {
    const asked = [...watchers]
    try {
      const ids = [...new Set(asked.flatMap((watcher) => [...watcher.ids]))]
      const states = new Map((await views.states(ids)).map((state) => [state.id, state]))
      for (const watcher of asked) if (watchers.has(watcher)) watcher.onStates(states)
    } catch (error) {
      onError(error)
    } finally {
      timer = undefined
      schedule(everyMs)
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

    follow(id, onState) {
      let last: string | undefined
      return add({
        ids: new Set([id]),
        onStates(states) {
          const state = states.get(id)
          const text = `${state?.status} ${state?.reason}`
          if (!state || text === last) return
          last = text
          onState(state)
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
