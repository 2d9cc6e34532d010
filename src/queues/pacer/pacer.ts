import { randomUUID } from 'node:crypto'
import type { RedisClient } from '../redis-client.ts'
import type { Lane } from '../../domain/ports/send-permit.ts'
import {
  clampRate,
  defaultLearnerSettings,
  readLearner,
  restedPart,
  type LearnerSettings,
} from './learner.ts'
import { createGate } from './flight/gate.ts'
import { createReports, type RequestOutcome } from './reports.ts'
import { createSharedState } from './shared-state.ts'
import { snapshotOf, type PacerSnapshot } from './snapshot.ts'
import { defaultTokenSettings, type TokenSettings } from './token.ts'
import { createWaitingLine, type Take } from './waiting-line.ts'

export type { PacerSnapshot } from './snapshot.ts'

/**
 * Issues the right to send one request now, shared by every process that uses the same pacer name in the same Redis.
 *
 * @example
 * const token = await pacer.take({ lane: 'background', maxWaitMs: 2000 })
 * if (!token.granted) throw new PutBack(token.retryInMs)
 * await pacer.depart(token.grantId)
 * const response = await send()
 * await pacer.report({ grantId: token.grantId, kind: response.status === 429 ? 'limited' : 'ok' })
 */
export interface Pacer {
  /**
   * Waits in this process up to `maxWaitMs` for a token. When the wait would be longer, returns `granted: false` at
   * once, and the caller puts its job back into the queue without consuming an attempt.
   * @throws the reason of `signal` when aborted while waiting; the error of Redis when Redis cannot be reached
   */
  take(options: { lane: Lane; maxWaitMs: number; signal?: AbortSignal | undefined }): Promise<Take>
  /**
   * Resolves when the request may go onto the wire, to be called directly before it does. That is at once, or as far from the request
   * before as permits are from each other, 300 ms at most, and when a pause after a refusal is over, 700 ms at most. Where the service
   * is known to serve only so many requests at a time, it is when one of them has ended. `report` frees the place again.
   */
  depart(grantId: string): Promise<void>
  /**
   * Reports the outcome of a request to the shared state. `ok` is held for some milliseconds and sent in batches;
   * `limited` is sent at once and awaited. Never rejects because of Redis: outcomes that could not be sent go with the
   * next report.
   */
  report(outcome: RequestOutcome): Promise<void>
  snapshot(): Promise<PacerSnapshot>
  /** Returns everything that was learned, as JSON, for a store that outlives Redis. */
  export(): Promise<string>
  /** Restores the result of `export`, unless Redis knows more. Starts at 0.9 of the learned rate. */
  import(exported: string): Promise<void>
  /**
   * Sends the outcomes still held and refuses the callers still waiting. The Redis connection belongs to the caller.
   */
  close(): Promise<void>
}

export interface PacerOptions extends Partial<LearnerSettings>, Partial<TokenSettings> {
  /** One per service host and access path. */
  name: string
  /** Prefix of the keys in Redis. */
  prefix: string
  /** The time that successes are held so that they are sent together; more at a high pace. */
  flushMs?: number
}

const commitTries = 12

export function createPacer(redis: RedisClient, options: PacerOptions): Pacer {
  const learnerSettings = { ...defaultLearnerSettings, ...definedOf(options, defaultLearnerSettings) }
  const tokenSettings = { ...defaultTokenSettings, ...definedOf(options, defaultTokenSettings) }
  const shared = createSharedState(redis, `${options.prefix}:pacer:${options.name}`, {
    token: tokenSettings,
    learner: learnerSettings,
  })
  const gate = createGate(randomUUID(), () => performance.now())
  const reports = createReports(shared, learnerSettings, options.flushMs ?? 50, (untilMs) =>
    gate.pause(untilMs),
  )
  const line = createWaitingLine(shared, tokenSettings, gate, reports)

  return {
    take: (wanted) => line.take(wanted),
    depart: (grantId) => new Promise((go) => gate.depart(grantId, go)),
    report(outcome) {
      const atMs = performance.now()
      const landed = gate.landed(outcome.grantId, outcome.kind === 'limited')
      line.landed()
      return reports.add(outcome, atMs, landed)
    },

    async snapshot() {
      const { learner, nowMs } = await shared.read()
      return snapshotOf(learner, nowMs)
    },

    async export() {
      return JSON.stringify((await shared.read()).learner)
    },

    async import(exported) {
      const known = readLearner(exported, learnerSettings)
      for (let i = 0; i < commitTries; i++) {
        const { version, learner, nowMs } = await shared.read()
        if (learner.totals.ok >= known.totals.ok) return
        const rate = clampRate(
          known.phase === 'learn' ? known.rate : known.rate * restedPart,
          learnerSettings,
        )
        if ((await shared.commit(version, { ...known, rate }, nowMs)).isStored) return
      }
    },

    async close() {
      line.close()
      await reports.close()
    },
  }
}

function definedOf<T extends object>(options: Partial<T>, keys: T): Partial<T> {
  const defined: Partial<T> = {}
  for (const key of Object.keys(keys) as (keyof T)[]) {
    if (options[key] !== undefined) defined[key] = options[key]
  }
  return defined
}
