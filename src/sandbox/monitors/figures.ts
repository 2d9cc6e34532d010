import { malformed, type BadRequest } from '../http/request-body.ts'
import type { Detection } from './detections.ts'

const DAY_MS = 86_400_000
const MAX_DAYS = 366

/** Returns the counts of a monitor since it was created. Tests are left out. */
export function statisticsOf(detections: readonly Detection[]) {
  const found = detections.filter((each) => !each.is_test)
  const deliveries = found.flatMap((each) => each.deliveries)
  const count = (status: string) => deliveries.filter((each) => each.status === status).length
  return {
    ...totalsOf(found),
    delivery_count: deliveries.length,
    delivered_count: count('delivered'),
    failed_count: count('failed'),
    pending_count: count('pending'),
    last_detected_at: found[0]?.detected_at ?? null,
  }
}

/** Returns the counts of each day from `from` to `to`, both included. Days without a detection have zeros. */
export function chartOf(detections: readonly Detection[], { from, to }: Period) {
  const found = detections.filter((each) => !each.is_test)
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  const series = Array.from({ length: days }, (_, at) => {
    const date = dayOf(new Date(Date.parse(from) + at * DAY_MS))
    return { date, ...totalsOf(found.filter((each) => each.detected_at.startsWith(date))) }
  })
  return { from, to, series }
}

interface Period {
  from: string
  to: string
}

/** Reads `from` and `to` as days in UTC. The default is the thirty days up to today. */
export function readPeriod(query: URLSearchParams, now: Date): Period | BadRequest {
  const to = query.get('to') ?? dayOf(now)
  if (!isDay(to)) return malformed('to must be a day, as 2026-11-22', 'to')
  const from = query.get('from') ?? dayOf(new Date(Date.parse(to) - 29 * DAY_MS))
  if (!isDay(from)) return malformed('from must be a day, as 2026-11-22', 'from')
  const days = (Date.parse(to) - Date.parse(from)) / DAY_MS + 1
  if (days < 1 || days > MAX_DAYS)
    return malformed(`from must be 0 to ${MAX_DAYS - 1} days before to`, 'from')
  return { from, to }
}

function totalsOf(detections: readonly Detection[]) {
  const sum = (name: 'signal_count' | 'company_count') =>
    detections.reduce((total, each) => total + each[name], 0)
  return {
    detection_count: detections.length,
    signal_count: sum('signal_count'),
    company_count: sum('company_count'),
  }
}

function isDay(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)) && dayOf(new Date(text)) === text
}

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10)
}
