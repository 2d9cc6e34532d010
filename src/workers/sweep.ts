import type { LookupKey } from '../domain/keys.ts'
import type { LateLookup } from '../store/runs/waiting-tasks.ts'
import type { TaskLedger } from '../store/runs/tasks.ts'
import { startPollLoop, type PollLoop } from '../timing/poll-loop.ts'
import type { Advance } from '../planning/advance.ts'

export interface SweepOptions {
  tasks: Pick<TaskLedger, 'overlooked' | 'parkLate' | 'readyGroups'>
  advance: Pick<Advance, 'advanceTasksWaitingFor' | 'advanceTasksPast'>
  flush: (group: { connector: string; entity: string }) => void
  everyMs: number
  onError: (error: unknown) => void
}

/** Small enough that no other statement waits long: PGlite runs one at a time, and a page takes about a millisecond. */
const pageSize = 200
/** When a pass takes long, the next one comes later, but at least once a minute. */
const shareOfTime = 1 / 20
const longestPauseMs = 60_000

/**
 * Finds work in SQL that no job will move: tasks whose lookup ended just before a process died, tasks that came to wait for a
 * lookup in the moment in which it was parked, and ready tasks whose flush was lost with Redis. The first pass starts at once, so a restart continues where the last process stopped.
 */
export function startSweep(options: SweepOptions): PollLoop {
  let isStopped = false

  async function sweep(): Promise<number> {
    let lookedMs = 0
    for (const group of await options.tasks.readyGroups()) options.flush(group)
    let after: string | undefined = ''
    while (after !== undefined && !isStopped) {
      const startMs = performance.now()
      const { ended, late, next } = await options.tasks.overlooked(after, pageSize)
      lookedMs += performance.now() - startMs
      await advance(ended)
      await park(late)
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
      // A task that cannot be planned must not block the others.
      for (const key of keys) await options.advance.advanceTasksWaitingFor([key]).catch(options.onError)
    }
  }

  /** Records that have something without a stopped operation go on first, as in `parkStopped`. */
  async function park(late: LateLookup[]): Promise<void> {
    for (const { key, isStopped, reason } of late)
      if (isStopped) await options.advance.advanceTasksPast([key], reason).catch(options.onError)
    await options.tasks.parkLate(late.map(({ key }) => key))
  }

  const rounds = startPollLoop({
    name: 'sweep up what was dropped',
    work: sweep,
    pauseMs: options.everyMs,
    onError: options.onError,
  })
  return {
    wake: () => rounds.wake(),
    stop() {
      isStopped = true
      return rounds.stop()
    },
  }
}
