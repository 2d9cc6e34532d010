import type { TaskLedger } from '../store/tasks.ts'
import { startRounds, type Rounds } from './rounds.ts'
import type { Advance } from './advance.ts'

export interface SweepOptions {
  tasks: Pick<TaskLedger, 'overlooked' | 'readyGroups'>
  advance: Pick<Advance, 'tasks'>
  flush: (group: { connector: string; entity: string }) => void
  everyMs: number
  onError: (error: unknown) => void
}

/**
 * Looks at SQL for work that nobody moves: tasks whose lookup ended while a process died before planning on, and ready
 * tasks whose flush was lost with Redis. Begins at once, so that a restart goes on where the last process stopped.
 */
export function startSweep(options: SweepOptions): Rounds {
  async function sweep(): Promise<void> {
    const overlooked = await options.tasks.overlooked(500)
    try {
      await options.advance.tasks(overlooked)
    } catch (error) {
      options.onError(error)
      // One task that cannot be planned must not keep the others waiting.
      for (const task of overlooked) await options.advance.tasks([task]).catch(options.onError)
    }
    for (const group of await options.tasks.readyGroups()) options.flush(group)
  }

  return startRounds({ work: sweep, pauseMs: options.everyMs, onError: options.onError })
}
