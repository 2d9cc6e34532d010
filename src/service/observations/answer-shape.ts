/** A field of an answer: names joined by dots, `[]` for the entries of a list, `*` for a name that may be a value. */
export interface ShapeField {
  path: string
  type: 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'
}

/** The fields of many answers, each with the number of answers that had it. */
export interface ShapeCounts {
  add(answer: unknown): void
  /** Returns the fields that were added since the last call, in the order in which they were first seen, and counts from 0 again. */
  take(): (ShapeField & { answers: number })[]
}

const mostFields = 400
const deepest = 8
/** Entries of a list that are looked at. Later ones have the same form, or are seen in another answer. */
const mostEntries = 25
/** An object with more names than any record has is a map, and its names are values. */
const mostNames = 80
/** Places that are remembered from one answer to the next. */
const mostPlaces = 5_000

/** Names of the service are of small letters, digits and underlines. Ids, addresses and the names of people are not. */
const fieldName = /^[a-z][a-z0-9_]{0,39}$/
const idLike = /\d{5}|^[0-9a-f_]{16,}$/

/** A place in answers, with the types that stood there. A known place costs an answer no new object. */
interface Place {
  path: string
  types: Partial<Record<ShapeField['type'], Seen>>
  below: Map<string, Place>
  /** The place of names that may be values. */
  star: Place | undefined
  entries: Place | undefined
}

interface Seen {
  field: ShapeField
  answers: number
  /** The last answer that had it: an answer counts once. */
  lastAnswer: number
}

/**
 * Counts the fields of answers with their types: no value, and no name that may be one. The path '' is the answer itself. An
 * answer that is too deep or too large is described as far as the bounds go.
 */
export function createShapeCounts(): ShapeCounts {
  let root = placeOf('')
  let places = 1
  let answer = 0
  let ofAnswer = 0
  let seen: Seen[] = []

  /** Returns false for a field for which the answer has no room. */
  function note(place: Place, type: ShapeField['type']): boolean {
    const known = (place.types[type] ??= { field: { path: place.path, type }, answers: 0, lastAnswer: 0 })
    if (known.lastAnswer === answer) return true
    if (ofAnswer >= mostFields) return false
    ofAnswer += 1
    known.lastAnswer = answer
    if (known.answers === 0) seen.push(known)
    known.answers += 1
    return true
  }

  function visit(value: unknown, place: Place, depth: number): void {
    if (!note(place, typeOf(value))) return
    if (depth >= deepest || typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      if (value.length === 0) return
      const entries = (place.entries ??= newPlace(`${place.path}[]`))
      for (let at = 0; at < value.length && at < mostEntries; at += 1) visit(value[at], entries, depth + 1)
      return
    }
    const names = Object.keys(value)
    const isMap = names.length > mostNames
    for (let at = 0; at < names.length && at < (isMap ? mostEntries : mostNames); at += 1) {
      const name = names[at] as string
      const next = isMap ? starBelow(place) : (place.below.get(name) ?? below(place, name))
      visit((value as Record<string, unknown>)[name], next, depth + 1)
    }
  }

  function below(place: Place, name: string): Place {
    if (!fieldName.test(name) || idLike.test(name)) return starBelow(place)
    const next = newPlace(pathBelow(place, name))
    place.below.set(name, next)
    return next
  }

  function starBelow(place: Place): Place {
    return (place.star ??= newPlace(pathBelow(place, '*')))
  }

  function newPlace(path: string): Place {
    places += 1
    return placeOf(path)
  }

  return {
    add(value) {
      answer += 1
      ofAnswer = 0
      visit(value, root, 0)
    },
    take() {
      const taken = seen.map(({ field, answers }) => ({ ...field, answers }))
      for (const each of seen) each.answers = 0
      seen = []
      if (places > mostPlaces) {
        root = placeOf('')
        places = 1
      }
      return taken
    },
  }
}

/** Returns the fields of one answer, each once. */
export function shapeOf(answer: unknown): ShapeField[] {
  const counts = createShapeCounts()
  counts.add(answer)
  return counts.take().map(({ path, type }) => ({ path, type }))
}

function placeOf(path: string): Place {
  return { path, types: {}, below: new Map(), star: undefined, entries: undefined }
}

function pathBelow({ path }: Place, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function typeOf(value: unknown): ShapeField['type'] {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}
