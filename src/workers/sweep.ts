import type { LookupKey } from '../domain/keys.ts'
import type { TaskLedger } from '../store/runs/tasks.ts'
import { startPollLoop, type PollLoop } from '../timing/poll-loop.ts'
import type { Advance } from '../planning/advance.ts'

export interface SweepOptions {
  tasks: Pick<TaskLedger, 'overlooked' | 'readyGroups'>
  advance: Pick<Advance, 'advanceTasksWaitingFor'>
  flush: (group: { connector: string; entity: string }) => void
  everyMs: number
  onError: (error: unknown) => void
}

/** So few at a time that nobody else has to wait for the ledger: on PGlite, where all stand in one line, a millisecond. */
const pageSize = 200
/** Where so many records wait that looking at them takes long, it is done more rarely, but never less than once a minute. */
const shareOfTime = 1 / 20
const longestPauseMs = 60_000

/**
 * Looks at SQL for work that nobody moves: tasks whose lookup ended while a process died before planning on, and ready
 * tasks whose flush was lost with Redis. Begins at once, so that a restart goes on where the last process stopped.
 */
export function startSweep(options: SweepOptions): PollLoop {
  let isStopped = false

  async function sweep(): Promise<number> {
    let lookedMs = 0
    for (const group of await options.tasks.readyGroups()) options.flush(group)
    let after: string | undefined = ''
    while (after !== undefined && !isStopped) {
      const startMs = performance.now()
      const { ended, next } = await options.tasks.overlooked(after, pageSize)
      lookedMs += performance.now() - startMs
      await advance(ended)
      after = next
    }
    return Math.min(longestPauseMs, Math.max(options.everyMs, lookedMs / shareOfTime))
  }

  async function advance(keys: LookupKey[]): Promise<void> {
    if (keys.length === 0) return
    try {
      await options.advance.advanceTasksWaitingFor(keys)
    } catch (error) {
      options.onError(error)
      // One that cannot be planned must not keep the others waiting.
      for (const key of keys) await options.advance.advanceTasksWaitingFor([key]).catch(options.onError)
    }
  }

  const rounds = startPollLoop({ work: sweep, pauseMs: options.everyMs, onError: options.onError })
  return {
    wake: () => rounds.wake(),
    stop() {
      isStopped = true
      return rounds.stop()
    },
  }
}
