import { describeError } from '../../domain/errors.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import type { Context } from '../context/context.ts'
import { catchUp } from './catch-up.ts'
import { moduleLog } from '../context/log.ts'

const lookEveryMs = 30_000
/** A delivery of a busy service takes a while. */
const graceMs = 60_000

/**
 * Reads the logs of the monitors now, because this process was not there before, and then as often as the settings say. Undefined: no
 * monitors are declared, or reading is off.
 */
export function startCatchUp(context: Context): { stop(): Promise<void> } | undefined {
  const { monitors, http } = context.config
  const everyMs = http.monitorLogsEveryMs
  if (Object.keys(monitors).length === 0 || everyMs === 0) return undefined
  const ending = new AbortController()
  const onError = (error: unknown) =>
    moduleLog(context.log, 'monitors').warn(
      { problem: describeError(error) },
      'the logs of monitors were not read',
    )
  let isFirst = true
  const loop = startPollLoop({
    name: 'read the logs of monitors',
    // Page by page, at the pace that the service allows.
    longestMs: 21_600_000,
    async work() {
      const isForced = isFirst
      isFirst = false
      for (const { monitor, missing, problem } of await catchUp(context, {
        signal: ending.signal,
        everyMs,
        graceMs,
        isForced,
      })) {
        if (problem !== null)
          moduleLog(context.log, 'monitors').warn({ monitor, problem }, 'the log of a monitor was not read')
        else if (missing > 0)
          moduleLog(context.log, 'monitors').warn(
            { monitor, missing },
            'deliveries were missing and are worked',
          )
      }
    },
    pauseMs: Math.min(lookEveryMs, everyMs),
    onError,
  })
  return {
    async stop() {
      ending.abort()
      await loop.stop()
    },
  }
}
