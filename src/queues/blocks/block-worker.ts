import { randomUUID } from 'node:crypto'
import { UnrecoverableError, Worker, type Job } from 'bullmq'
import type { LookupKey } from '../../domain/keys.ts'
import { pause } from '../../timing/pause.ts'
import { endWaits } from '../end-waits.ts'
import { blockJob, queueNames } from '../jobs.ts'
import type { RedisClient } from '../redis-client.ts'
import { workerOptions, type QueueWorker } from '../working.ts'
import type { Claims } from './claims.ts'
import { createHeldBlocks, type Block } from './held-blocks.ts'
import type { Slots } from './slots.ts'

/** Twice in the time after which a lock runs out. */
const renewMs = workerOptions.lockDuration / 2
const retryMs = 1_000
/** The most lookups in a block of any process, supposed until some have been seen. */
const largestSize = 16

/**
 * Takes blocks from their queue, one at a time and only when a slot is free for which no lookup is at hand, so that a process holds no
 * more than the rest of one block beyond its slots. BullMQ's own loop has no such question between two jobs.
 */
export function startBlockWorker(options: {
  redis: RedisClient
  prefix: string
  claims: Claims
  slots: Slots
  /** Does one lookup and stores what comes next. `starts` counts how often its block was started. */
  work: (key: LookupKey, starts: number) => Promise<void>
  /** Puts lookups that were not begun where another process finds them. `own` are the tokens of their blocks' locks. */
  giveBack: (keys: readonly LookupKey[], own: readonly string[]) => Promise<void>
  onError: (error: Error) => void
  onFailed: (error: Error) => void
}): QueueWorker {
  const { redis, prefix, claims, slots, onError, onFailed } = options
  const worker = new Worker(queueNames.blocks, null, {
    connection: redis,
    prefix,
    ...workerOptions,
    autorun: false,
  })
  endWaits(worker)
  worker.on('error', onError)
  worker.startStalledCheckTimer().catch(onError)
  const closing = new AbortController()
  const locked = new Map<string, { token: string; starts: number }>()
  const ending = new Set<Promise<unknown>>()
  let wake = () => {}
  /** The last look found the queue empty: the next one waits for a block, and nobody waits for it. */
  let isDrained = true
  /** All that is at hand begins after the next look, so that it begins together with what comes. */
  let isAwaited = false

  const held = createHeldBlocks({
    claims,
    slots,
    work: (key, { id }) => options.work(key, locked.get(id)?.starts ?? 1).catch(onFailed),
    fetch() {
      isAwaited = !isDrained
      wake()
      return isAwaited
    },
    onError,
  })

  async function fetchBlocks(): Promise<void> {
    let size = largestSize
    while (!closing.signal.aborted) {
      const lacks = held.lacks()
      if (lacks <= 0) {
        // Jobs of their own have taken the slots in between.
        if (isAwaited) tellFetched()
        await new Promise<void>((resolve) => (wake = resolve))
        continue
      }
      try {
        // At once, so that their lookups begin together. A queue that was empty is waited for.
        const count = isDrained ? 1 : Math.ceil(lacks / size)
        const sizes = await allOf(Array.from({ length: count }, fetchOne))
        isDrained = sizes.includes(0)
        // One that is smaller than others, such as the last of those that were added together, says little of the next.
        size = Math.max(...sizes, Math.ceil(size * 0.75))
        tellFetched()
      } catch (error) {
        if (!closing.signal.aborted) onError(error as Error)
        isDrained = true
        tellFetched()
        await pause(retryMs, closing.signal)
      }
    }
  }

  function tellFetched(): void {
    isAwaited = false
    held.fetched()
  }

  /** Returns the number of lookups in the block that was taken, 0 without one. */
  async function fetchOne(): Promise<number> {
    const token = randomUUID()
    const job = (await worker.getNextJob(token)) as Job | undefined
    return job ? take(job, token) : 0
  }

  async function take(job: Job, token: string): Promise<number> {
    // Fetched while the worker was closing.
    if (closing.signal.aborted) {
      await job.moveToWait(token)
      return 0
    }
    const block = blockJob.safeParse(job.data)
    // Its lookups are found again when their leases end.
    if (job.deferredFailure || !block.success || !job.id) {
      const error = new UnrecoverableError(job.deferredFailure || 'a block of lookups cannot be read')
      onFailed(error)
      await job.moveToFailed(error, token)
      return 1
    }
    const { id } = job
    locked.set(id, { token, starts: job.attemptsStarted })
    const end = () => {
      locked.delete(id)
      const ended = job.moveToCompleted('', token, false).catch(onError)
      ending.add(ended)
      void ended.finally(() => ending.delete(ended))
    }
    const { keys } = block.data
    held.put({ id, token, keys, end } satisfies Block)
    return Math.max(1, keys.length)
  }

  const renewal = setInterval(() => void renew().catch(onError), renewMs)
  async function renew(): Promise<void> {
    if (locked.size === 0) return
    const tokens = [...locked.values()].map(({ token }) => token)
    for (const id of await worker.extendJobLocks([...locked.keys()], tokens, workerOptions.lockDuration))
      onError(new Error(`could not renew lock for block ${id}`))
  }

  const fetching = fetchBlocks()

  async function closeInOrder(): Promise<void> {
    const own = [...locked.values()].map(({ token }) => token)
    const left = held.stop()
    // At once, before anything else: blocks of which nothing is under way end now, and their locks with them.
    await options.giveBack(left, own).catch(onError)
    await held.idle()
    await Promise.all(ending)
  }

  return {
    async close(graceMs) {
      closing.abort()
      wake()
      let timer: NodeJS.Timeout | undefined
      const graceOver = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)))
      await Promise.race([closeInOrder(), graceOver])
      clearInterval(renewal)
      // Ends a fetch that waits. One that has been answered meanwhile puts its block back.
      await worker.close(true)
      await Promise.race([fetching, graceOver])
      clearTimeout(timer)
    },
  }
}

/** Throws the first error when all have ended: what comes behind an error is put at hand before anybody is told of it. */
async function allOf<T>(promises: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(promises)
  return Promise.all(promises)
}
