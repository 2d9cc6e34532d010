import type { TaskCursor, TaskFilters, TaskPage } from '../../../store/search/find-tasks.ts'
import { taskStatuses, type TaskStatus } from '../../../domain/words.ts'

/** The terms of a search, as they stand in the address. */
export interface SearchParams {
  /** The text as typed. In the address it is sealed. */
  text: string
  connector: string
  schedule: string
  state: TaskStatus | ''
  cause: string
  /** Days of UTC, as `2026-11-22`; `to` is included. */
  from: string
  to: string
}

/** A search with what it found. */
export interface RecordSearch {
  params: SearchParams
  /** The sealed text, for addresses. */
  sealed: string
  page: TaskPage
  connectors: readonly string[]
  schedules: readonly string[]
  /** The number of the newest records that cannot be found by name yet. */
  unsearchable: number
}

const longestText = 500
const dayMs = 86_400_000
const lastDayMs = Date.parse('9999-12-30T00:00:00Z')

/** Reads the filters of a form or an address. Anything else is left out. */
export function readParams(given: Readonly<Record<string, string | undefined>>, text: string): SearchParams {
  const { connector = '', schedule = '', state = '', cause = '', from = '', to = '' } = given
  return {
    text: text.trim().slice(0, longestText).toWellFormed(),
    connector: connector.slice(0, 100),
    schedule: schedule.slice(0, 200),
    state: taskStatuses.find((status) => status === state) ?? '',
    cause: cause.trim().slice(0, 300).toWellFormed(),
    from: dayOf(from) === undefined ? '' : from,
    to: dayOf(to) === undefined ? '' : to,
  }
}

/** Returns the query of an address, without what is not set. */
export function queryOf(
  { connector, schedule, state, cause, from, to }: SearchParams,
  sealed: string,
  place: { older?: TaskCursor; newer?: TaskCursor } = {},
): string {
  const query = new URLSearchParams()
  const all = { s: sealed, connector, schedule, state, cause, from, to }
  for (const [name, value] of Object.entries(all)) if (value !== '') query.set(name, value)
  for (const [name, cursor] of Object.entries(place)) query.set(name, cursorText(cursor))
  const text = query.toString()
  return text === '' ? '/records' : `/records?${text}`
}

export function filtersOf({ connector, schedule, state, cause, from, to }: SearchParams): TaskFilters {
  const last = dayOf(to)
  return {
    connector: connector || undefined,
    schedule: schedule || undefined,
    status: state || undefined,
    cause: cause || undefined,
    from: dayOf(from),
    before: last && new Date(last.getTime() + dayMs),
  }
}

export function hasFilters(params: SearchParams): boolean {
  return Object.values(filtersOf(params)).some((value) => value !== undefined)
}

function cursorText({ at, id }: TaskCursor): string {
  return `${at.getTime()}.${id}`
}

export function readCursor(text: string | undefined): TaskCursor | undefined {
  const match = /^(\d{1,15})\.(\d{1,18})$/.exec(text ?? '')
  return match && Number(match[1]) <= lastDayMs
    ? { at: new Date(Number(match[1])), id: BigInt(match[2] as string) }
    : undefined
}

/** The database reads no year 0, and no year of five digits, which the day behind the last one could have. */
function dayOf(text: string): Date | undefined {
  if (!/^[1-9]\d{3}-\d\d-\d\d$/.test(text)) return undefined
  const day = new Date(`${text}T00:00:00Z`)
  return Number.isNaN(day.getTime()) || day.getTime() > lastDayMs ? undefined : day
}
