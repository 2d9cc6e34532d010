import { isAbsent, malformed, type BadRequest } from '../http/request-body.ts'
import { dayOf } from '../world/clock.ts'

/** Kinds of a body's values, by the name of the key. */
type FilterKind = 'texts' | 'text' | 'flag' | 'range' | 'ids' | 'words'
export type FilterKinds = Record<string, FilterKind>

/** The numbers of the first and the last day. Both belong to the range. */
export interface DayRange {
  first: number
  last: number
}

interface ValueOf {
  texts: readonly string[]
  /** A single word or a list of them. */
  words: readonly string[]
  /** Ids come as texts or numbers. */
  ids: readonly string[]
  text: string
  flag: boolean
  range: DayRange
}

/** The filters of a request that were given. */
export type Filters<K extends FilterKinds> = { [N in keyof K]?: ValueOf[K[N]] }

/** Returns the values of a body by their kinds, or says which of them is of another kind. */
export function readFilters<K extends FilterKinds>(
  body: Record<string, unknown>,
  kinds: K,
): Filters<K> | BadRequest {
  const filters: Record<string, unknown> = {}
  for (const [name, kind] of Object.entries(kinds)) {
    if (isAbsent(body[name])) continue
    const value = readers[kind](body[name])
    if (value === undefined) return malformed(`${name} must be ${described[kind]}`, name)
    filters[name] = value
  }
  return filters as Filters<K>
}

const described: Record<FilterKind, string> = {
  texts: 'a list of strings',
  words: 'a string or a list of strings',
  ids: 'a list of ids',
  text: 'a string',
  flag: 'a boolean',
  range: 'an object with from and to, as YYYY-MM-DD',
}

const readers: { [K in FilterKind]: (raw: unknown) => ValueOf[K] | undefined } = {
  texts: (raw) => (isListOf(raw, 'string') ? (raw as string[]) : undefined),
  words: (raw) => (typeof raw === 'string' ? [raw] : readers.texts(raw)),
  ids: (raw) => (isListOf(raw, 'string', 'number') ? (raw as unknown[]).map(String) : undefined),
  text: (raw) => (typeof raw === 'string' ? raw : undefined),
  flag: (raw) => (typeof raw === 'boolean' ? raw : undefined),
  range: (raw) => {
    if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return undefined
    const { from, to, ...others } = raw as Record<string, unknown>
    if (Object.keys(others).length > 0) return undefined
    if (![from, to].every((each) => isAbsent(each) || isDate(each))) return undefined
    return {
      first: isAbsent(from) ? -Infinity : dayOf(new Date(from as string)),
      last: isAbsent(to) ? Infinity : dayOf(new Date(to as string)),
    }
  },
}

export function inRange(range: DayRange, day: number): boolean {
  return range.first <= day && day <= range.last
}

function isListOf(raw: unknown, ...types: string[]) {
  return Array.isArray(raw) && raw.every((each) => types.includes(typeof each))
}

function isDate(raw: unknown): boolean {
  return (
    typeof raw === 'string' &&
    /^\d{4}-\d{2}-\d{2}$/.test(raw) &&
    !Number.isNaN(Date.parse(`${raw}T00:00:00Z`))
  )
}
