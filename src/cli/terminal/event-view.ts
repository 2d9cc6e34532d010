import { parseUsd } from '../../domain/money.ts'
import { utcMinute } from '../../domain/values/utc-minute.ts'
import type { PaydirtEvent } from '../../library/types.ts'
import type { LiveLine } from './live-line.ts'
import { printError } from './print.ts'
import { createProgressView, type ProgressView } from './progress.ts'

/**
 * Shows the events of the library on standard error: notices, what is continued, and the progress of one run after the other.
 * `onEvent` is called behind the view of a run that has ended.
 */
export function createEventView({
  onEvent,
  line,
}: { onEvent?: (event: PaydirtEvent) => void; line?: LiveLine } = {}) {
  let total: number | undefined
  let view: ProgressView | undefined
  function end(): void {
    view?.end()
    view = undefined
  }
  return {
    show(event: PaydirtEvent): void {
      if (event.type === 'notice') printError(`paydirt: ${event.text}\n`)
      if (event.type === 'resumed')
        printError(`paydirt: continuing run ${event.runId}, started ${utcMinute(event.startedAt)}\n`)
      if (event.type === 'file') total = event.reading.rows
      if (event.type === 'progress') {
        const { records, counts, underWay, settled, credits = '0', pace, isStopping = false } = event
        view ??= createProgressView({ total, nowMs: () => performance.now(), line })
        const [settledAtomic, creditsAtomic] = [parseUsd(settled), parseUsd(credits)]
        view.show({
          records,
          counts,
          underWay,
          scanned: true,
          settledAtomic,
          creditsAtomic,
          pace,
          isStopping,
        })
      }
      if (event.type === 'ended') end()
      onEvent?.(event)
    },
    end,
  }
}
