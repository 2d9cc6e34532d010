import type { LearnedPace, Progress } from '../../app/runs/run-progress.ts'
import { formatUsd } from '../../domain/money.ts'
import { liveLine, type LiveLine } from './live-line.ts'
import { printError } from './print.ts'
import { spentText } from './spent-text.ts'

export interface ProgressView {
  show(progress: Progress): void
  end(): void
}

/** The whole line has room in 80 columns. */
const barWidth = 12
const plainEveryMs = 5_000
/** The rate is that of the last half minute: records are written in batches, seconds apart. */
const windowMs = 30_000
/** A rate is known when it was seen for so long and over so many records; before, nothing is said of it. */
const leastMs = 5_000
const leastRecords = 10
/** A time below this is over before it is read. */
const leastLeftSeconds = 5

/**
 * Shows the progress of a run on standard error: a line that redraws itself on a terminal, plain lines elsewhere.
 */
export function createProgressView(options: {
  /** Undefined: the number of records that the scan has found so far. */
  total: number | undefined
  nowMs: () => number
  line?: LiveLine | undefined
  print?: (text: string) => void
}): ProgressView {
  const { nowMs, line = liveLine, print = printError } = options
  const seen: { atMs: number; done: number }[] = []
  let lastPlainMs = nowMs()

  /** Returns the records a second, those in part done by their part. Undefined while the rate is not known. */
  function rateAt(done: number): number | undefined {
    const atMs = nowMs()
    seen.push({ atMs, done })
    while (seen.length > 2 && (seen[1]?.atMs ?? atMs) <= atMs - windowMs) seen.shift()
    const first = seen[0] ?? { atMs, done }
    const [ms, records] = [atMs - first.atMs, done - first.done]
    return ms >= leastMs && records >= leastRecords ? (records * 1000) / ms : undefined
  }

  function text(
    { records, counts, underWay, settledAtomic, creditsAtomic, pace, isStopping }: Progress,
    withBar: boolean,
  ): string {
    const total = options.total ?? records
    const done = counts.written + counts.unchanged + counts.skipped + counts.rejected
    // Records end when their last lookup is answered, often all at the end: what is answered before is work done too.
    const work = done + underWay.records
    const rate = rateAt(work)
    const left = rate === undefined || isStopping ? 0 : (total - work - counts.parked) / rate
    const share = total === 0 ? 1 : Math.min(1, work / total)
    const filled = Math.round(share * barWidth)
    const bar = withBar ? `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ` : ''
    const parts = [
      `${bar}${done}/${total}`,
      ...(rate === undefined ? [] : [rateText(rate)]),
      `${underWay.bought > 0 ? `${underWay.bought} bought, ` : ''}${spentText(formatUsd(settledAtomic), formatUsd(creditsAtomic))}`,
      ...(counts.parked > 0 ? [`${counts.parked} parked`] : []),
      ...(left >= leastLeftSeconds ? [`about ${duration(left)} left`] : []),
      ...(pace && !isStopping ? [paceText(pace)] : []),
    ]
    return parts.join(' · ')
  }

  return {
    show(progress) {
      const shown = text(progress, line.isTerminal)
      if (line.isTerminal) line.show(shown)
      else if (nowMs() - lastPlainMs >= plainEveryMs) {
        lastPlainMs = nowMs()
        print(`${shown}\n`)
      }
    },
    end() {
      line.end()
    },
  }
}

/** Last, as the first to have no room: what the service is asked a second or at a time, and how much of it was too much. */
function paceText({ perSecond, atOnce, refusedShare }: LearnedPace): string {
  const refused = refusedShare >= 0.001 ? `, ${(100 * refusedShare).toFixed(1)} % refused (10 min)` : ''
  if (atOnce !== undefined) return `pace ${atOnce} at a time${refused}`
  return `pace ${perSecond < 10 ? perSecond.toFixed(1) : perSecond.toFixed(0)}/s${refused}`
}

function rateText(perSecond: number): string {
  return perSecond >= 1 ? `${perSecond.toFixed(0)}/s` : `${(perSecond * 60).toFixed(0)}/min`
}

function duration(seconds: number): string {
  if (seconds < 60) return `${Math.ceil(seconds / 5) * 5} s`
  if (seconds < 3600) return `${Math.ceil(seconds / 60)} min`
  return `${(seconds / 3600).toFixed(1)} h`
}
