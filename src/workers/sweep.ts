import type { LookupKey } from '../domain/keys.ts'
import type { TaskLedger } from '../store/tasks.ts'
import { startRounds, type Rounds } from './rounds.ts'
import type { Advance } from './advance.ts'

export interface SweepOptions {
  tasks: Pick<TaskLedger, 'overlooked' | 'readyGroups'>
  advance: Pick<Advance, 'waitingFor'>
  flush: (group: { connector: string; entity: string }) => void
  everyMs: number
  onError: (error: unknown) => void
}

/** So few at a time that nobody else has to wait for the ledger. */
const pageSize = 1_000
/** A round that took long, for the number of records that wait, is not begun again before nineteen times as long has passed. */
const shareOfTime = 1 / 20

/**
 * Looks at SQL for work that nobody moves: tasks whose lookup ended while a process died before planning on, and ready
 * tasks whose flush was lost with Redis. Begins at once, so that a restart goes on where the last process stopped.
 */
export function startSweep(options: SweepOptions): Rounds {
  async function sweep(): Promise<number> {
    const startMs = performance.now()
    for (const group of await options.tasks.readyGroups()) options.flush(group)
    let after: string | undefined = ''
    while (after !== undefined) {
      const { ended, next } = await options.tasks.overlooked(after, pageSize)
      await advance(ended)
      after = next
    }
    return Math.max(options.everyMs, (performance.now() - startMs) / shareOfTime)
  }

  async function advance(keys: LookupKey[]): Promise<void> {
    if (keys.length === 0) return
    try {
      await options.advance.waitingFor(keys)
    } catch (error) {
      options.onError(error)
      // One that cannot be planned must not keep the others waiting.
      for (const key of keys) await options.advance.waitingFor([key]).catch(options.onError)
    }
  }

  return startRounds({ work: sweep, pauseMs: options.everyMs, onError: options.onError })
}
