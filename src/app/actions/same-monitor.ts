import { isDeepStrictEqual } from 'node:util'

type Fields = Readonly<Record<string, unknown>>

/** Fields of which the service may show another form than the one that it was sent: only their names are compared. */
const hidden: readonly string[] = ['webhook_headers']

/**
 * Returns the fields in which a monitor differs from what was sent. A field that the monitor does not show is left out: nobody
 * can say. Letters and the order of lists do not count where the service may store them differently.
 */
export function differingFields(
  sent: Fields,
  monitor: Fields,
  { comparesHidden }: { comparesHidden: boolean },
): string[] {
  return Object.entries(sent).flatMap(([name, value]) => {
    if (!Object.hasOwn(monitor, name)) return []
    const shown = monitor[name]
    if (hidden.includes(name) && !comparesHidden) return isSame(namesOf(value), namesOf(shown)) ? [] : [name]
    return isSame(value, shown) ? [] : [name]
  })
}

/** Returns the fields that were sent and that a monitor does not show. */
export function unshownFields(sent: Fields, monitor: Fields): string[] {
  return Object.keys(sent).filter((name) => !Object.hasOwn(monitor, name))
}

export interface Candidates {
  /** The monitors that equal what was sent. */
  equal: readonly Fields[]
  /** Those of the same name that do not, each with the fields that differ. */
  alike: readonly { monitor: Fields; differs: string[] }[]
  /** Those that are equal, and do not say since when they are there. */
  undated: readonly Fields[]
}

/**
 * Sorts out the monitors that a request may have created: those of its name that were created since the intent. `known` are the
 * ids of monitors that other actions have created. Clocks differ, so a monitor that is a little older may still be ours.
 */
export function candidatesFor(
  sent: Fields,
  monitors: readonly Fields[],
  { since, known, idName }: { since: Date; known: ReadonlySet<string>; idName: string },
): Candidates {
  const equal: Fields[] = []
  const alike: { monitor: Fields; differs: string[] }[] = []
  const undated: Fields[] = []
  for (const monitor of monitors) {
    if (known.has(String(monitor[idName])) || !isSame(monitor['name'], sent['name'])) continue
    const createdMs = Date.parse(String(monitor['created_at']))
    if (createdMs < since.getTime() - clockSkewMs) continue
    const differs = differingFields(sent, monitor, { comparesHidden: false })
    if (differs.length > 0) alike.push({ monitor, differs })
    else if (Number.isNaN(createdMs)) undated.push(monitor)
    else equal.push(monitor)
  }
  return { equal, alike, undated }
}

/** The most by which the service's clock may be behind ours. */
const clockSkewMs = 5 * 60_000

function isSame(a: unknown, b: unknown): boolean {
  return isDeepStrictEqual(comparable(a), comparable(b))
}

/** Texts are trimmed, lists are sets, and an empty object, list or null is the same as nothing. */
function comparable(value: unknown): unknown {
  if (typeof value === 'string') return asUrl(value.trim())
  if (Array.isArray(value)) {
    if (value.length === 0) return null
    const entries = value.map(comparable)
    return entries.every((each) => typeof each !== 'object')
      ? [...new Set(entries.map(String))].sort()
      : entries
  }
  if (typeof value !== 'object' || value === null) return value ?? null
  const entries = Object.entries(value)
    .map(([name, each]): [string, unknown] => [name, comparable(each)])
    .filter(([, each]) => each !== null)
  if (entries.length === 0) return null
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** `https://host` and `https://host/` are one address. */
function asUrl(text: string): string {
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text).href : text
}

function namesOf(value: unknown): string[] {
  return typeof value === 'object' && value !== null
    ? Object.keys(value).map((name) => name.toLowerCase())
    : []
}
