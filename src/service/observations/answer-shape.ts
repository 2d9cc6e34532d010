/** A field of an answer: names joined by dots, `[]` for the entries of a list, `*` for a name that may be a value. */
export interface ShapeField {
  path: string
  type: 'string' | 'number' | 'boolean' | 'null' | 'array' | 'object'
}

const mostFields = 400
const deepest = 8
/** Entries of a list that are looked at. Later ones have the same form, or are seen in another answer. */
const mostEntries = 25
/** An object with more names than any record has is a map, and its names are values. */
const mostNames = 80

/** Names of the service are of small letters, digits and underlines. Ids, addresses and the names of people are not. */
const fieldName = /^[a-z][a-z0-9_]{0,39}$/
const idLike = /\d{5}|^[0-9a-f_]{16,}$/

/** The names of one service are few, and each comes with every answer. */
const namesSeen = new Map<string, boolean>()
const mostNamesSeen = 2_000

function isFieldName(key: string): boolean {
  const seen = namesSeen.get(key)
  if (seen !== undefined) return seen
  const isName = fieldName.test(key) && !idLike.test(key)
  if (key.length > 40) return isName
  if (namesSeen.size >= mostNamesSeen) namesSeen.clear()
  namesSeen.set(key, isName)
  return isName
}

/**
 * Returns the fields of an answer with their types, each once: no value of it, and no name that may be one. The path '' is the
 * answer itself. An answer that is too deep or too large is described as far as the bounds go.
 */
export function shapeOf(answer: unknown): ShapeField[] {
  const fields = new Map<string, ShapeField>()

  function visit(value: unknown, path: string, depth: number): void {
    const type = typeOf(value)
    const name = `${path} ${type}`
    if (!fields.has(name)) {
      if (fields.size >= mostFields) return
      fields.set(name, { path, type })
    }
    if (depth >= deepest || typeof value !== 'object' || value === null) return
    if (Array.isArray(value)) {
      for (const entry of value.slice(0, mostEntries)) visit(entry, `${path}[]`, depth + 1)
      return
    }
    const entries = Object.entries(value)
    const isMap = entries.length > mostNames
    for (const [key, each] of entries.slice(0, isMap ? mostEntries : mostNames)) {
      const isName = !isMap && isFieldName(key)
      visit(each, `${path}${path === '' ? '' : '.'}${isName ? key : '*'}`, depth + 1)
    }
  }

  visit(answer, '', 0)
  return [...fields.values()]
}

function typeOf(value: unknown): ShapeField['type'] {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' ? type : 'object'
}
