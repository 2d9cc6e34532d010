import type { Landed } from './flight/gate.ts'
import { decodeGrant } from './grant.ts'
import { pausedUntilMs, type Learner, type LearnerSettings, type Outcome } from './learner.ts'
import type { SharedState } from './shared-state.ts'
import { learn, paceOf } from './state.ts'
import { fineMs } from './token.ts'

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
/**
 * At a fine interval successes are held so long. The learner counts the requests under way from answers that it knows within 100 ms
 * (`flight/sightings.ts`).
 */
const fineHoldMs = 90
/** At the highest pace, while nothing was ever refused, there is nothing to learn but that it goes on. */
const unrefusedHoldMs = 250

/**
 * The time for which successes are held. While the pace is being found they are told soon, as are the trials of a block of
 * refusals, whose interval is coarse.
 */
export function holdMs(learner: Learner, flushMs: number, { maxPerSecond }: LearnerSettings): number {
  const isFine = paceOf(learner, learner.lastAtMs).intervalMs < fineMs
  if (!isFine) return flushMs
  if (learner.phase !== 'learn') return Math.max(fineHoldMs, flushMs)
  return learner.rate >= maxPerSecond ? Math.max(unrefusedHoldMs, flushMs) : flushMs
}

/** A report that was held for half of its time goes with the next call for permits, which brings what others have reported. */
export function isRipe(heldMs: number, holdsMs: number): boolean {
  return heldMs >= holdsMs / 2
}
const clockToleranceMs = 5

export type Reports = ReturnType<typeof createReports>

/**
 * Carries the outcomes of this process to the learner. `onPause` is told, on the clock of this process, until when nothing is to be sent:
 * the permits of requests that are being prepared are older than the refusal that tells it.
 */
export function createReports(
  shared: SharedState,
  settings: LearnerSettings,
  flushMs: number,
  onPause: (untilMs: number) => void = () => {},
) {
  let held: Outcome[] = []
  let known: { version: string; learner: Learner } | null = null
  let holdsMs = flushMs
  let heldSinceMs = 0
  /** The clock of Redis minus the clock of this process, and by how much it may be wrong. */
  let clock: { offsetMs: number; doubtMs: number } | null = null
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
        if (!known || clock === null) await refresh()
        const { learner, version } = known!
        const offset = clock!.offsetMs
        const next = batch.reduce((state, o) => learn(state, onClock(o, offset), settings), learner)
        onPause(pausedUntilMs(next) - offset)
        const askedMs = performance.now()
        const stored = await shared.commit(version, next, askedMs + offset)
        syncClock(stored.nowMs, askedMs)
        if (stored.isStored) {
          know(stored.version, next)
          return
        }
        adopt(stored.version, stored.learner)
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
    adopt(version, learner)
  }

  function adopt(version: string, learner: Learner): void {
    // Counts only grow, so a lower count means that Redis was emptied. This process still knows what was learned.
    const emptied = known !== null && learner.totals.ok < known.learner.totals.ok
    know(version, emptied && known ? known.learner : learner)
  }

  function know(version: string, learner: Learner): void {
    known = { version, learner }
    holdsMs = holdMs(learner, flushMs, settings)
  }

  function syncClock(redisNowMs: number, askedMs: number): void {
    // Redis read its clock at some time of the round trip: in a busy process that is longer than the intervals of the requests.
    const doubtMs = (performance.now() - askedMs) / 2
    const offsetMs = redisNowMs - askedMs - doubtMs
    const differenceMs = clock ? Math.abs(offsetMs - clock.offsetMs) : Infinity
    const isMoved = differenceMs > clockToleranceMs + doubtMs
    const isBetter = clock !== null && differenceMs > clockToleranceMs && doubtMs < clock.doubtMs / 2
    // Two requests that follow each other are not to seem to overlap.
    if (isMoved || isBetter) clock = { offsetMs, doubtMs }
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), holdsMs).unref()
  }

  return {
    /** `flight` tells when the request was sent, on the clock of this process. */
    async add(outcome: RequestOutcome, atMs: number, flight?: Landed): Promise<void> {
      if (outcome.kind === 'other') return
      const { atMs: sentAtMs, ...grant } = decodeGrant(outcome.grantId)
      if (held.length === 0) heldSinceMs = performance.now()
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
    /** The version that is known here, when what is held may go with the next call for permits. */
    ripeVersion(): string | undefined {
      const isDue = held.length > 0 && flushing === null && known !== null
      return isDue && isRipe(performance.now() - heldSinceMs, holdsMs) ? known?.version : undefined
    },
    /** The answer to a call with that version: what is held is sent while the learner is fresh. */
    refreshed(asked: string, { version, learner }: { version: string; learner?: Learner | undefined }): void {
      // A flush that began meanwhile knows more.
      if (flushing || known?.version !== asked) return
      if (learner) adopt(version, learner)
      void flush()
    },
    close: flush,
  }
}

/** A request counts where it left: its permit may be older by what was done in a group before. */
function onClock(outcome: Outcome, offsetMs: number): Outcome {
  const { atMs, leftMs } = outcome
  const left = leftMs === undefined ? undefined : leftMs + offsetMs
  const { sentAtMs: grantedAtMs } = outcome
  return { ...outcome, atMs: atMs + offsetMs, leftMs: left, sentAtMs: left ?? grantedAtMs, grantedAtMs }
}
