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

/** Two tokens of one process are used no nearer to each other than this share of the interval. */
const leastGap = 0.6
/** At smaller intervals, timers are too coarse to keep requests apart. */
const fineMs = 3
const earlyMs = 0.3

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
  /** Tokens that are granted and not yet used, in the order in which they are due. */
  const held: { waiter: Waiter; grantId: string; dueMs: number; gapMs: number }[] = []
  let usedAtMs = -Infinity
  let timer: NodeJS.Timeout | null = null
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
      hand(waiter, grantId, grant.atMs - answer.nowMs, answer.intervalMs)
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
  function hand(waiter: Waiter, grantId: string, inMs: number, intervalMs: number): void {
    const holder = waiter.lane === 'hot' ? held.find((each) => mayBeOvertaken(each.waiter)) : undefined
    const next = holder?.waiter ?? waiter
    if (holder) {
      holder.waiter.wasOvertaken = true
      holder.waiter = waiter
    }
    const gapMs = intervalMs < fineMs ? 0 : leastGap * intervalMs
    held.push({ waiter: next, grantId, dueMs: performance.now() + (inMs <= 1 ? 0 : inMs), gapMs })
    useDue()
  }

  /**
   * Uses the tokens that are due. An event loop that was busy comes late to several at once: they are kept apart all the same,
   * because many services refuse requests that stand close together.
   */
  function useDue(): void {
    for (let token = held[0]; token; token = held[0]) {
      const nowMs = performance.now()
      const inMs = Math.max(token.dueMs, usedAtMs + token.gapMs) - nowMs
      if (inMs > earlyMs) {
        if (timer) clearTimeout(timer)
        timer = setTimeout(useDue, inMs)
        return
      }
      held.shift()
      usedAtMs = nowMs
      token.waiter.resolve({ granted: true, grantId: token.grantId })
    }
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
