import { randomBytes } from 'node:crypto'
import type { Lane } from '../../domain/ports/send-permit.ts'
import { encodeGrant } from './grant.ts'
import type { SharedState } from './shared-state.ts'

export type Take = { granted: true; grantId: string } | { granted: false; retryInMs: number }

interface Waiter {
  lane: Lane
  deadlineMs: number
  /** A request is overtaken at most once, so its token still comes within its maximum wait. */
  wasOvertaken?: true
  resolve(answer: Take): void
  fail(error: unknown): void
}

export interface TakeOptions {
  lane: Lane
  maxWaitMs: number
  signal?: AbortSignal | undefined
}

/**
 * The requests that wait in this process. It asks Redis for all of them together, one call at a time, hot ones first.
 */
export function createWaitingLine(shared: SharedState, horizonMs: number) {
  const waiting: Record<Lane, Waiter[]> = { hot: [], background: [] }
  /** Tokens that are granted and not yet due, in the order in which they are due. */
  const held = new Set<{ waiter: Waiter }>()
  let asking = false
  let wake: (() => void) | null = null
  let closed = false

  async function serve(): Promise<void> {
    asking = true
    while (waiting.hot.length + waiting.background.length > 0) {
      try {
        const waitMs = await askOnce()
        if (waiting.hot.length + waiting.background.length > 0) await pause(waitMs)
      } catch (error) {
        for (const waiter of [...waiting.hot.splice(0), ...waiting.background.splice(0)]) waiter.fail(error)
      }
    }
    asking = false
  }

  async function askOnce(): Promise<number> {
    const answer = await shared.take({
      hot: waiting.hot.length,
      background: Math.min(waiting.background.length, 50),
    })
    for (const grant of answer.grants) {
      // The request may have been aborted in the meantime. A token without a waiter is lost: it is not given to a
      // request for which no token was asked.
      const waiter = waiting[grant.lane].shift() ?? waiting.background.shift()
      if (!waiter) continue
      // A late caller's token is in the past; it is used now.
      const grantId = encodeGrant(
        { ...grant, atMs: Math.max(grant.atMs, answer.nowMs) },
        randomBytes(4).toString('hex'),
      )
      hand(waiter, grantId, grant.atMs - answer.nowMs)
    }
    refuseHopeless('hot', answer.hotWaitMs, answer.intervalMs)
    refuseHopeless('background', answer.backgroundWaitMs, answer.intervalMs)
    // Ask again before the token is due, so that a late timer does not cost any of the rate. For a hot request, ask as soon
    // as a token can be granted, because a background request here may hold an earlier one. Also ask now and then because
    // blocks end early.
    const waitMs =
      waiting.hot.length > 0 ? answer.hotWaitMs - horizonMs : answer.backgroundWaitMs - horizonMs / 2
    return Math.min(250, Math.max(1, waitMs))
  }

  /**
   * Tokens are granted a little ahead. A hot request takes the token of a background request that holds one here and
   * waits for its time.
   */
  function hand(waiter: Waiter, grantId: string, inMs: number): void {
    const holder = waiter.lane === 'hot' ? [...held].find((each) => mayBeOvertaken(each.waiter)) : undefined
    const next = holder?.waiter ?? waiter
    if (holder) {
      holder.waiter.wasOvertaken = true
      holder.waiter = waiter
    }
    if (inMs <= 1) return next.resolve({ granted: true, grantId })
    const token = { waiter: next }
    held.add(token)
    setTimeout(() => {
      held.delete(token)
      token.waiter.resolve({ granted: true, grantId })
    }, inMs)
  }

  /** The n-th in line waits n intervals more. The lines of other processes are not known and add to that. */
  function refuseHopeless(lane: Lane, waitMs: number, intervalMs: number): void {
    const nowMs = performance.now()
    waiting[lane] = waiting[lane].filter((waiter, place) => {
      const ownWaitMs = Math.max(1, waitMs + place * intervalMs)
      if (nowMs + ownWaitMs <= waiter.deadlineMs) return true
      waiter.resolve({ granted: false, retryInMs: Math.ceil(ownWaitMs) })
      return false
    })
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms)
      function done() {
        clearTimeout(timer)
        wake = null
        resolve()
      }
      wake = done
    })
  }

  return {
    take({ lane, maxWaitMs, signal }: TakeOptions): Promise<Take> {
      if (closed) return Promise.resolve({ granted: false, retryInMs: 1000 })
      return new Promise<Take>((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const leave = () => {
          waiting[lane] = waiting[lane].filter((w) => w !== waiter)
          reject(signal?.reason)
        }
        const waiter: Waiter = {
          lane,
          deadlineMs: performance.now() + maxWaitMs,
          resolve: (answer) => (signal?.removeEventListener('abort', leave), resolve(answer)),
          fail: (error) => (signal?.removeEventListener('abort', leave), reject(error)),
        }
        signal?.addEventListener('abort', leave, { once: true })
        const wasEmpty = waiting.background.length === 0
        waiting[lane].push(waiter)
        if (!asking) void serve()
        else if (lane === 'hot' || wasEmpty) wake?.()
      })
    },

    close() {
      closed = true
      for (const waiter of [...waiting.hot.splice(0), ...waiting.background.splice(0)]) {
        waiter.resolve({ granted: false, retryInMs: 1000 })
      }
      wake?.()
    },
  }
}

function mayBeOvertaken({ lane, wasOvertaken: hasGivenWay }: Waiter): boolean {
  return lane === 'background' && !hasGivenWay
}
