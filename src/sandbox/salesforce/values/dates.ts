/** "yyyy-MM-dd", with "Z" or an offset at most: a time is refused (Bulk API 2.0 guide, "Valid Date Format in Records"). */
const dateForm = /^\d{4}-\d{2}-\d{2}(?:Z|[+-]\d{2}:?\d{2})?$/
/** "yyyy-MM-ddTHH:mm:ss.SSS+/-HHmm" or with "Z": without a zone it is refused. */
const dateTimeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})$/

/** Returns the stored form of a date or a datetime, or undefined for what the org cannot read. A datetime has whole seconds. */
export function readDate(type: 'date' | 'datetime', value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const day = value.slice(0, 10)
  const atMs =
    type === 'date' ? timeOf(dateForm.test(value) ? day : '') : timeOf(dateTimeForm.test(value) ? value : '')
  if (atMs === undefined) return undefined
  return type === 'date' ? day : new Date(Math.floor(atMs / 1000) * 1000).toISOString().replace('Z', '+0000')
}

/** Returns a time in milliseconds whose day there is, between the years 1700 and 4000. */
function timeOf(text: string): number | undefined {
  const day = text.slice(0, 10)
  const [atMs, dayMs] = [Date.parse(text), Date.parse(day)]
  if (Number.isNaN(atMs) || new Date(dayMs).toISOString().slice(0, 10) !== day) return undefined
  const year = Number(day.slice(0, 4))
  return year >= 1700 && year <= 4000 ? atMs : undefined
}
