import type { Progress } from '../../app/runs/run-to-end.ts'
import { formatUsd } from '../../domain/money.ts'

export interface ProgressView {
  show(progress: Progress): void
  end(): void
}

const barWidth = 24
const plainEveryMs = 5_000

/**
 * Shows the progress of a run on standard error: a line that redraws itself on a terminal, plain lines elsewhere. The rate
 * and the time left are those of the last ten seconds.
 */
export function createProgressView(options: {
  /** Undefined: the number of records that the scan has found so far. */
  total: number | undefined
  stream: NodeJS.WriteStream
  nowMs: () => number
}): ProgressView {
  const { stream, nowMs } = options
  const seen: { atMs: number; done: number }[] = []
  let lastPlainMs = nowMs()

  function line(progress: Progress): string {
    const { counts } = progress
    const total = options.total ?? progress.records
    const done = counts.written + counts.unchanged + counts.skipped + counts.rejected
    seen.push({ atMs: nowMs(), done })
    while (seen.length > 2 && (seen[0]?.atMs ?? 0) < nowMs() - 10_000) seen.shift()
    const [first] = seen
    const seconds = (nowMs() - (first?.atMs ?? 0)) / 1000
    const rate = seconds > 0.5 ? (done - (first?.done ?? 0)) / seconds : 0
    const share = total === 0 ? 1 : done / total
    const filled = Math.round(share * barWidth)
    const parked = counts.parked > 0 ? ` · ${counts.parked} parked` : ''
    const left = rate > 0 && done < total ? ` · ${duration((total - done - counts.parked) / rate)} left` : ''
    return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${done}/${total} · ${rate.toFixed(0)}/s · ${formatUsd(progress.settledAtomic)} USD${parked}${left}`
  }

  return {
    show(progress) {
      const text = line(progress)
      if (stream.isTTY) {
        stream.write(`\r\x1b[2K${text.slice(0, (stream.columns ?? 100) - 1)}`)
      } else if (nowMs() - lastPlainMs >= plainEveryMs) {
        lastPlainMs = nowMs()
        stream.write(`${text.slice(barWidth + 1)}\n`)
      }
    },
    end() {
      if (stream.isTTY) stream.write('\r\x1b[2K')
    },
  }
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds)} s`
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
