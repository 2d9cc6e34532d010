import { describeUnexpected } from '../../domain/errors.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { lookupJobId } from '../../queues/jobs.ts'
import { pause } from '../../timing/pause.ts'
import type { Context } from '../context/context.ts'
import type { Engine } from '../context/engine.ts'
import { moduleLog } from '../context/log.ts'
import { takeFirstCount } from '../money/account-count.ts'
import { createLookUps } from './look-ups.ts'

/** The lease of a new lookup: longer than a press is worked here, with its last request. */
export const heldMs = 60_000
/** No further request of a lookup is begun here after this time. */
const longestMs = 15_000

export interface PressHand {
  /** Begins the new ones of these lookups in this process, as many as it has room for, and gives the others to the queue. */
  take(keys: readonly LookupKey[], isNew: ReadonlySet<LookupKey>): void
  /** Begins none from this call on, and gives those under way this long to end. */
  stop(graceMs: number): Promise<void>
}

/**
 * Looks up what a press needs in the process that took it. The one thread of a worker is busy with the night: a press waited there
 * at each of its steps.
 *
 * A lookup that is new is stored with a lease (`heldMs`), as if it were in the queue, so that no enqueuer takes it meanwhile. One
 * that cannot go on now goes to the queue, and so does one for which there is no room.
 *
 * Crash window: killed while it looks up, the ledger has the state of a lookup whose worker was killed. When the lease has run out,
 * an enqueuer takes it.
 */
export async function openPressHand(context: Context, engine: Engine): Promise<PressHand> {
  const log = moduleLog(context.log, 'workers')
  const onError = (error: unknown) =>
    log.warn({ problem: describeUnexpected(error) }, 'a press met an error and goes on from the ledger')
  await takeFirstCount(context, engine)
  const lookUp = createLookUps(context, engine, {
    onHalt: (error) =>
      log.error({ code: error.code, problem: error.message }, 'work is parked until this is fixed'),
    onError,
  }).hot()
  const { queues, pressSignals } = engine
  // As many as a worker has in the background: with few of them in flight, the background would take the tokens that they leave.
  const most = Math.max(8, context.config.concurrency)
  const underWay = new Set<Promise<void>>()
  const stopping = new AbortController()

  async function work(key: LookupKey): Promise<void> {
    const endsAtMs = performance.now() + longestMs
    try {
      for (let starts = 1; ; starts += 1) {
        const outcome = await tell(key, () => lookUp(key, starts))
        if (!outcome) return
        if (performance.now() + outcome.againInMs > endsAtMs) break
        await pause(outcome.againInMs, stopping.signal)
        if (stopping.signal.aborted) break
      }
    } catch (error) {
      onError(error)
    }
    await queues.hurryLookups([key], new Set([key])).catch(onError)
  }

  async function tell<T>(key: LookupKey, work: () => Promise<T>): Promise<T> {
    const name = lookupJobId(key)
    pressSignals.tell('begun', name)
    try {
      return await work()
    } finally {
      pressSignals.tell('ended', name)
    }
  }

  return {
    take(keys, isNew) {
      const room = stopping.signal.aborted ? 0 : Math.max(0, most - underWay.size)
      const mine = new Set(keys.filter((key) => isNew.has(key)).slice(0, room))
      for (const key of mine) {
        const worked = work(key)
        underWay.add(worked)
        void worked.finally(() => underWay.delete(worked))
      }
      const others = keys.filter((key) => !mine.has(key))
      if (others.length > 0) queues.hurryLookups(others, isNew).catch(onError)
    },

    async stop(graceMs) {
      stopping.abort()
      const ended = new AbortController()
      await Promise.race([Promise.all(underWay).then(() => ended.abort()), pause(graceMs, ended.signal)])
    },
  }
}
