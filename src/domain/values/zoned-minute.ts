import { utcMinute } from './utc-minute.ts'

/** Returns a time in the zone of a schedule, as people read it on the command line: "2026-11-23 02:00 Europe/Berlin". */
export function zonedMinute(at: Date, timeZone: string): string {
  if (timeZone === 'UTC') return utcMinute(at)
  // Swedish writes dates like ISO 8601.
  const text = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(
    at,
  )
  return `${text} ${timeZone}`
}
