import { getNextMillis } from 'bullmq'

/** A pattern of five fields (six with seconds first), or `@daily` and the like, in an IANA time zone. */
export interface CronTimes {
  cron: string
  timeZone: string
}

/** Returns a message that says why these times are not valid; undefined when they are valid. */
export function cronProblem({ cron, timeZone }: CronTimes, at: Date): string | undefined {
  try {
    Intl.DateTimeFormat('en', { timeZone })
  } catch {
    return `${timeZone} is not a time zone such as Europe/Berlin`
  }
  // The parser fills in missing fields silently, so a forgotten field has to be detected here.
  if (!/^@\w+$/.test(cron.trim()) && ![5, 6].includes(cron.trim().split(/\s+/).length))
    return `"${cron}" is not five fields such as "0 2 * * *" (six with seconds)`
  try {
    if (nextTime({ cron, timeZone }, at) === undefined) return `"${cron}" never comes`
  } catch (error) {
    return `"${cron}" cannot be read: ${(error as Error).message}`
  }
  return undefined
}

/** Returns the first time of the pattern after `after`, as BullMQ's job schedulers compute it. */
export function nextTime({ cron, timeZone }: CronTimes, after: Date): Date | undefined {
  const millis = getNextMillis(after.getTime(), { pattern: cron, tz: timeZone })
  return millis === undefined ? undefined : new Date(millis)
}

/** Returns the first `count` times of the pattern after `after`, or all if there are fewer. */
export function nextTimes(times: CronTimes, after: Date, count: number): Date[] {
  const found: Date[] = []
  while (found.length < count) {
    const next = nextTime(times, found.at(-1) ?? after)
    if (!next) break
    found.push(next)
  }
  return found
}

/**
 * Returns the last time of the pattern at or before `at`, not earlier than `notBefore`. The next time never falls as
 * its start rises, so a binary search finds the latest second whose next time has come.
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
