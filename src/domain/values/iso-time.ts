const form =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i

/**
 * Returns a day or time of ISO 8601 in milliseconds, or undefined for any other text and for a day that no calendar has. A
 * time without a zone is one of UTC, whatever the zone of this machine.
 */
export function parseIsoTime(text: string): number | undefined {
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone = 'Z'] =
    form.exec(text.trim()) ?? []
  if (year === undefined) return undefined
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined
  const dayMs = Date.UTC(Number(year), Number(month) - 1, Number(day))
  if (new Date(dayMs).toISOString().slice(0, 10) !== `${year}-${month}-${day}`) return undefined
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const time = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1_000 + ms
  return dayMs + time - offsetMs(zone)
}

/** Returns the day in UTC, `2026-11-23`. */
export function isoDay(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 10)
}

function offsetMs(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? []
  const ms = (Number(hours) * 60 + Number(minutes)) * 60_000
  return sign === '-' ? -ms : ms
}
