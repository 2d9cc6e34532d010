import type { Landed } from './flight/gate.ts'
import { decodeGrant } from './grant.ts'
import type { Learner, LearnerSettings, Outcome } from './learner.ts'
import type { SharedState } from './shared-state.ts'
import { learn } from './state.ts'

export interface RequestOutcome {
  grantId: string
  kind: 'ok' | 'limited' | 'other'
  /** From `Retry-After`. */
  retryAfterMs?: number | undefined
  /** From `RateLimit-*`. */
  rateLimit?: { remaining: number; resetMs: number; limit?: number | undefined } | undefined
}

/** Outcomes held while Redis is unreachable. Older ones would teach nothing. */
const heldOutcomes = 5000
const commitTries = 12
const clockToleranceMs = 5

/** Carries the outcomes of this process to the learner. */
export function createReports(shared: SharedState, settings: LearnerSettings, flushMs: number) {
  let held: Outcome[] = []
  let known: { version: string; learner: Learner } | null = null
  /** The clock of Redis minus the clock of this process. */
  let clockMs: number | null = null
  let flushing: Promise<void> | null = null
  let timer: NodeJS.Timeout | null = null

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer)
    timer = null
    while (flushing) await flushing
    if (held.length === 0) return
    flushing = send().finally(() => (flushing = null))
    await flushing
  }

  async function send(): Promise<void> {
    const batch = held
    held = []
    try {
      for (let i = 0; i < commitTries; i++) {
        if (!known || clockMs === null || i > 0) await refresh()
        const { learner, version } = known!
        const offset = clockMs!
        const next = batch.reduce((state, o) => learn(state, onClock(o, offset), settings), learner)
        const askedMs = performance.now()
        const stored = await shared.commit(version, next, askedMs + offset)
        if (stored === null) continue
        known = { version: stored.version, learner: next }
        syncClock(stored.nowMs, askedMs)
        return
      }
    } catch {
      // Redis is unreachable, which its client reports. The outcomes wait.
    }
    held = [...batch, ...held].slice(-heldOutcomes)
    schedule()
  }

  async function refresh(): Promise<void> {
    const askedMs = performance.now()
    const { nowMs, version, learner } = await shared.read()
    syncClock(nowMs, askedMs)
    // Counts only grow, so a lower count means that Redis was emptied. This process still knows what was learned.
    const emptied = known !== null && learner.totals.ok < known.learner.totals.ok
    known = { version, learner: emptied && known ? known.learner : learner }
  }

  function syncClock(redisNowMs: number, askedMs: number): void {
    const measuredMs = redisNowMs - (askedMs + performance.now()) / 2
    // Each measurement is off by part of a round trip. Two requests that follow each other are not to seem to overlap.
    if (clockMs === null || Math.abs(measuredMs - clockMs) > clockToleranceMs) clockMs = measuredMs
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), flushMs).unref()
  }

  return {
    /** `flight` tells when the request was sent, on the clock of this process. */
    async add(outcome: RequestOutcome, atMs: number, flight?: Landed): Promise<void> {
      if (outcome.kind === 'other') return
      const { atMs: sentAtMs, ...grant } = decodeGrant(outcome.grantId)
      held.push({
        ...grant,
        ...flight,
        sentAtMs,
        atMs,
        kind: outcome.kind,
        retryAfterMs: outcome.retryAfterMs,
        rateLimit: outcome.rateLimit,
      })
      if (outcome.kind === 'limited') await flush()
      else schedule()
    },
    close: flush,
  }
}

function onClock(outcome: Outcome, offsetMs: number): Outcome {
  const { atMs, leftMs } = outcome
  return { ...outcome, atMs: atMs + offsetMs, leftMs: leftMs === undefined ? undefined : leftMs + offsetMs }
}
