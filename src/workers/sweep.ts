import type { LookupKey } from '../domain/keys.ts'
import type { LateLookup } from '../store/runs/waiting-tasks.ts'
import type { TaskLedger } from '../store/runs/tasks.ts'
import { pause } from '../timing/pause.ts'
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
/**
 * Pages stand apart, so that a pass over a long night does not keep one of the database's processors for seconds: whoever presses
 * meanwhile would wait for it. All pauses together, within a pass and after it, are a minute at most.
 */
const shareOfTime = 1 / 20
const longestPauseMs = 60_000

/**
 * Finds work in SQL that no job will move: tasks whose lookup ended just before a process died, tasks that came to wait for a
 * lookup in the moment in which it was parked, and ready tasks whose flush was lost with Redis. The first pass starts at once, so a restart continues where the last process stopped.
 */
export function startSweep(options: SweepOptions): PollLoop {
  const stopped = new AbortController()
  /** Those of the pass before. The first one, which may have to go on with what another process has left, has no pauses. */
  let pages = Infinity

  async function sweep(beat: () => void): Promise<number> {
    let lookedMs = 0
    let pausedMs = 0
    let seen = 0
    for (const group of await options.tasks.readyGroups()) options.flush(group)
    let after: string | undefined = ''
    while (after !== undefined && !stopped.signal.aborted) {
      const startMs = performance.now()
      const { ended, late, next } = await options.tasks.overlooked(after, pageSize)
      const tookMs = performance.now() - startMs
      lookedMs += tookMs
      seen += 1
      await advance(ended)
      await park(late)
      after = next
      if (after === undefined) break
      // A pass that is much longer than the one before goes on without pauses after a minute of them.
      const share = Math.min(longestPauseMs / Math.max(pages, seen), longestPauseMs - pausedMs)
      const pauseMs = Math.min(tookMs / shareOfTime, share)
      if (pauseMs > 0) await pause(pauseMs, stopped.signal)
      pausedMs += pauseMs
      beat()
    }
    pages = seen
    return Math.max(options.everyMs, Math.min(longestPauseMs, lookedMs / shareOfTime) - pausedMs)
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
      stopped.abort()
      return rounds.stop()
    },
  }
}
