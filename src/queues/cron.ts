import { getNextMillis } from 'bullmq'

/** A pattern of five fields (six with seconds first) or `@daily` and its like, read in an IANA time zone. */
export interface CronTimes {
  cron: string
  timeZone: string
}

/** Why a schedule of these times cannot be kept, in words for a message; undefined when it can. */
export function cronProblem({ cron, timeZone }: CronTimes, at: Date): string | undefined {
  try {
    Intl.DateTimeFormat('en', { timeZone })
  } catch {
    return `${timeZone} is not a time zone such as Europe/Berlin`
  }
  // The parser fills in fields that are not there; of a forgotten one nobody would hear.
  if (!/^@\w+$/.test(cron.trim()) && ![5, 6].includes(cron.trim().split(/\s+/).length))
    return `"${cron}" is not five fields such as "0 2 * * *" (six with seconds)`
  try {
    if (nextTime({ cron, timeZone }, at) === undefined) return `"${cron}" never comes`
  } catch (error) {
    return `"${cron}" cannot be read: ${(error as Error).message}`
  }
  return undefined
}

/** The first time of the pattern after `after`, by the reckoning of BullMQ's own job schedulers. */
export function nextTime({ cron, timeZone }: CronTimes, after: Date): Date | undefined {
  const millis = getNextMillis(after.getTime(), { pattern: cron, tz: timeZone })
  return millis === undefined ? undefined : new Date(millis)
}

/**
 * The last time of the pattern at or before `at`, not earlier than `notBefore`. The next time never falls as its start
 * rises, so the latest second whose next time has come is found by halving.
 */
export function lastTime(times: CronTimes, at: Date, notBefore: Date): Date | undefined {
  const first = nextTime(times, notBefore)
  if (!first || first > at) return undefined
  let low = Math.floor(notBefore.getTime() / 1000)
  let high = Math.floor(at.getTime() / 1000)
  let last = first
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    const next = nextTime(times, new Date(middle * 1000))
    if (next && next <= at) {
      last = next
      low = middle
    } else {
      high = middle - 1
    }
  }
  return last
}
