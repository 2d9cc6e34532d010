import { randomBytes } from 'node:crypto'
import type { Lane } from '../../domain/ports/send-permit.ts'
import type { Gate } from './flight/gate.ts'
import { encodeGrant } from './grant.ts'
import type { Reports } from './reports.ts'
import { createRising } from './rising.ts'
import type { SharedState, TakeAnswer } from './shared-state.ts'
import { createStock, type Permit } from './stock.ts'
import { blockMs, fineMs, type TokenGrant, type TokenSettings } from './token.ts'

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
const earlyMs = 0.3
const longestPauseMs = 250
const mostAtOnce = 50

export interface TakeOptions {
  lane: Lane
  maxWaitMs: number
  signal?: AbortSignal | undefined
}

/**
 * The requests that wait in this process. It asks Redis for all of them together, one call at a time, hot ones first. At a high pace
 * the call also brings permits for requests that are about to come (`stock.ts`).
 */
export function createWaitingLine(
  shared: SharedState,
  { horizonMs }: Pick<TokenSettings, 'horizonMs'>,
  gate: Gate,
  reports: Pick<Reports, 'ripeVersion' | 'refreshed'>,
) {
  const waiting: Record<Lane, Waiter[]> = { hot: [], background: [] }
  /** Tokens that are granted and not yet used, in the order in which they are due. */
  const held: { waiter: Waiter; grantId: string; dueMs: number; gapMs: number }[] = []
  const rising = createRising(performance.now())
  const stock = createStock<TokenGrant>()
  /** The pace is high and has been found, as the last answer of Redis had it: permits are taken in blocks. */
  let takesBlocks = false
  let mayTakeAhead = false
  /** The clock of Redis minus the clock of this process. */
  let clockMs = 0
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
    const background = Math.min(waiting.background.length, room - hot, mostAtOnce)
    const known = reports.ripeVersion()
    const answer = await shared.take(
      { hot, background: background + ahead(hot + background) },
      gate.asked({ hot: waiting.hot.length, background: waiting.background.length }),
      { horizonMs: takesBlocks ? Math.max(blockMs, horizonMs) : horizonMs, knownVersion: known },
    )
    gate.told(answer.slots)
    gate.paced(answer.intervalMs)
    if (known !== undefined) reports.refreshed(known, answer)
    const nowMs = performance.now()
    clockMs = answer.nowMs - nowMs
    rising.see(answer.intervalMs, nowMs)
    takesBlocks = answer.intervalMs < fineMs && rising.isOver(nowMs)
    mayTakeAhead = takesBlocks && isFree(answer)
    if (!mayTakeAhead) stock.clear()
    for (const grant of answer.grants) {
      const permit = { grant, dueMs: grant.atMs - clockMs }
      // The request may have been aborted in the meantime. At a low pace a token without a waiter is lost: it is not given to
      // a request for which no token was asked.
      const waiter = waiting[grant.lane].shift() ?? waiting.background.shift()
      if (waiter) hand(waiter, permit, answer.intervalMs)
      else if (mayTakeAhead) stock.put(permit)
    }
    useStock()
    refuseHopeless(Math.max(answer.intervalMs, gate.intervalMs()), answer.hotWaitMs, answer.backgroundWaitMs)
    // Ask again before the token is due, so that a late timer does not cost any of the rate. For a hot request, ask as soon
    // as a token can be granted, because a background request here may hold an earlier one. Also ask now and then because
    // blocks end early.
    const waitMs =
      waiting.hot.length > 0
        ? answer.hotWaitMs - (takesBlocks ? blockMs : horizonMs)
        : answer.backgroundWaitMs - horizonMs / 2
    tokenAtMs = performance.now() + Math.min(longestPauseMs, Math.max(1, waitMs))
  }

  /** Permits to ask for beyond those of requests that wait. */
  function ahead(waiting: number): number {
    return mayTakeAhead ? Math.min(mostAtOnce, stock.lacks(waiting, performance.now())) : 0
  }

  /** Gives the permits that were taken ahead to those who came meanwhile. */
  function useStock(): void {
    for (;;) {
      const permit = length() > 0 ? stock.take(performance.now()) : undefined
      const waiter = permit && (waiting.hot.shift() ?? waiting.background.shift())
      if (!waiter) return
      hand(waiter, permit, 0)
    }
  }

  /**
   * Tokens are granted a little ahead. A hot request takes the token of a background request that holds one here and
   * waits for its time.
   */
  function hand(waiter: Waiter, { grant, dueMs }: Permit<TokenGrant>, intervalMs: number): void {
    const nowMs = performance.now()
    // A late caller's token is in the past; it is used now.
    const atMs = Math.max(grant.atMs, nowMs + clockMs)
    const grantId = encodeGrant({ ...grant, atMs }, randomBytes(4).toString('hex'))
    stock.used(nowMs)
    const holder = waiter.lane === 'hot' ? held.find((each) => mayBeOvertaken(each.waiter)) : undefined
    const next = holder?.waiter ?? waiter
    if (holder) {
      holder.waiter.wasOvertaken = true
      holder.waiter = waiter
      gate.granted(holder.grantId, waiter.lane)
    }
    const gapMs = intervalMs < fineMs ? 0 : leastGap * intervalMs
    gate.granted(grantId, next.lane)
    held.push({ waiter: next, grantId, dueMs: dueMs - nowMs <= 1 ? nowMs : dueMs, gapMs })
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
        useStock()
        if (length() === 0) return
        // At a fine interval the time of the next token is known well enough: others who come until then go with this one.
        if (lane === 'hot' || (wasEmpty && !takesBlocks)) isUrgent = true
        if (!asking) void serve()
        else if (lane === 'hot' || wasEmpty) wake?.()
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

/** A permit that is not used is missed where requests are counted by windows or by slots. */
function isFree({ grants, slots }: TakeAnswer): boolean {
  return slots === undefined && grants.every(({ places }) => places.length === 0)
}

function mayBeOvertaken({ lane, wasOvertaken: hasGivenWay }: Waiter): boolean {
  return lane === 'background' && !hasGivenWay
}
