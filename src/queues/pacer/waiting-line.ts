import { randomBytes } from 'node:crypto'
import type { Lane } from '../../domain/ports/send-permit.ts'
import type { Gate } from './flight/gate.ts'
import { encodeGrant } from './grant.ts'
import { createRising } from './rising.ts'
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
const longestPauseMs = 250

export interface TakeOptions {
  lane: Lane
  maxWaitMs: number
  signal?: AbortSignal | undefined
}

/**
 * The requests that wait in this process. It asks Redis for all of them together, one call at a time, hot ones first.
 */
export function createWaitingLine(shared: SharedState, horizonMs: number, gate: Gate) {
  const waiting: Record<Lane, Waiter[]> = { hot: [], background: [] }
  /** Tokens that are granted and not yet used, in the order in which they are due. */
  const held: { waiter: Waiter; grantId: string; dueMs: number; gapMs: number }[] = []
  const rising = createRising(performance.now())
  let usedAtMs = -Infinity
  let timer: NodeJS.Timeout | null = null
  let asking = false
  /** The time of the next token, as the last answer of Redis had it. */
  let tokenAtMs = -Infinity
  /** A request has come that may have a token sooner than that. */
  let isUrgent = false
  let wake: (() => void) | null = null
  let closed = false

  async function serve(): Promise<void> {
    asking = true
    isUrgent = true
    try {
      while (!closed) {
        const inMs = askInMs()
        if (inMs === Infinity && length() === 0) break
        if (inMs > 0) await pause(Math.min(inMs, longestPauseMs))
        if (askInMs() <= 0) await askOnce()
        else refuseHopeless(gate.intervalMs(), gate.intervalMs())
      }
    } catch (error) {
      // Redis is away, and nobody can say what the share is: what is ready is sent.
      gate.told(undefined)
      for (const waiter of [...waiting.hot.splice(0), ...waiting.background.splice(0)]) waiter.fail(error)
    }
    asking = false
  }

  /** Time until Redis is to be asked, for tokens or for slots; Infinity while there is nothing to ask for. */
  function askInMs(): number {
    const tokenInMs = isUrgent ? 0 : Math.max(0, tokenAtMs - performance.now())
    const hasUse = length() > 0 && gate.room() > 0
    return Math.min(hasUse ? tokenInMs : Infinity, gate.askInMs(length()))
  }

  function length(): number {
    return waiting.hot.length + waiting.background.length
  }

  async function askOnce(): Promise<void> {
    isUrgent = false
    const room = gate.room()
    const hot = Math.min(waiting.hot.length, room)
    const answer = await shared.take(
      { hot, background: Math.min(waiting.background.length, room - hot, 50) },
      gate.asked({ hot: waiting.hot.length, background: waiting.background.length }),
    )
    gate.told(answer.slots)
    rising.see(answer.intervalMs, performance.now())
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
    const intervalMs = Math.max(answer.intervalMs, gate.intervalMs())
    refuseHopeless(intervalMs, answer.hotWaitMs, answer.backgroundWaitMs)
    // Ask again before the token is due, so that a late timer does not cost any of the rate. For a hot request, ask as soon
    // as a token can be granted, because a background request here may hold an earlier one. Also ask now and then because
    // blocks end early.
    const waitMs =
      waiting.hot.length > 0 ? answer.hotWaitMs - horizonMs : answer.backgroundWaitMs - horizonMs / 2
    tokenAtMs = performance.now() + Math.min(longestPauseMs, Math.max(1, waitMs))
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
    gate.granted(grantId, waiter.lane)
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
  function refuseHopeless(intervalMs: number, hotWaitMs: number, backgroundWaitMs = hotWaitMs): void {
    const nowMs = performance.now()
    for (const [lane, waitMs] of [
      ['hot', hotWaitMs],
      ['background', backgroundWaitMs],
    ] as const) {
      waiting[lane] = waiting[lane].filter((waiter, place) => {
        const ownWaitMs = Math.max(1, waitMs + place * intervalMs)
        if (nowMs + ownWaitMs <= waiter.deadlineMs) return true
        const soonestMs = Math.max(1, waitMs + rising.soonestMs(place * intervalMs, nowMs))
        waiter.resolve({ granted: false, retryInMs: Math.ceil(soonestMs) })
        return false
      })
    }
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
        else if (wake && (lane === 'hot' || wasEmpty)) {
          isUrgent = true
          wake()
        }
      })
    },

    /** A request has ended: there may be room for another, or slots to give back. */
    landed() {
      if (asking) wake?.()
      else if (gate.askInMs(0) < Infinity) void serve()
    },

    close() {
      closed = true
      gate.told(undefined)
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
