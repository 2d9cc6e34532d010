import type { Progress } from '../app/runs/run-progress.ts'
import { formatUsd } from '../domain/money.ts'
import type { EndedRun, PaydirtEvent } from './types.ts'

/** One piece of work under way: its signal, which `close` fires too, and the way of its events. */
export interface Work {
  signal: AbortSignal
  emit(event: PaydirtEvent): void
}

export function progressEvent({
  records,
  counts,
  underWay,
  settledAtomic,
  creditsAtomic,
  pace,
  isStopping,
}: Progress): PaydirtEvent {
  return {
    type: 'progress',
    records,
    counts,
    underWay,
    settled: formatUsd(settledAtomic),
    ...(creditsAtomic > 0n && { credits: formatUsd(creditsAtomic) }),
    ...(pace && { pace }),
    ...(isStopping && { isStopping }),
  }
}

export function endedEvent({ end, summary }: EndedRun): PaydirtEvent {
  return { type: 'ended', runId: summary.runId, end, summary }
}
