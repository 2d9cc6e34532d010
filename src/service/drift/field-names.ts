import type { JsonType } from '../catalogue/entry.ts'

/** A name and a type in an answer. The path '' stands for the answer as a whole. */
export interface FieldName {
  /** Names joined by dots, with `[]` for the entries of a list: `data.jobs[].functions`. */
  path: string
  type: JsonType | 'null'
}

/** An answer of the service has some hundred fields. What is beyond these bounds is left out. */
const mostFields = 1_000
const deepest = 10
/** Entries of a list that are looked at: those of one list are alike. */
const mostEntries = 50
/** An object with more keys than this, or with keys that are no names, is a table: its keys may be values. */
const mostKeys = 80
const name = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
/** A name of a field is a word, or some words; ids and hashes are values. */
const isName = (key: string) => name.test(key) && !/\d{5}|[0-9a-f]{16}/i.test(key)

/** Returns each name and type of an answer once, and no value of it. */
export function fieldsIn(answer: unknown): FieldName[] {
  const found = new Map<string, FieldName>()
  visit(answer, '', 0)
  return [...found.values()]

  function visit(value: unknown, path: string, depth: number): void {
    const type = typeOf(value)
    if (type === undefined || found.size >= mostFields) return
    found.set(`${path} ${type}`, { path, type })
    if (depth === deepest) return
    if (Array.isArray(value)) {
      for (const entry of value.slice(0, mostEntries)) visit(entry, `${path}[]`, depth + 1)
    } else if (type === 'object') {
      const entries = Object.entries(value as object)
      const isTable = entries.length > mostKeys || !entries.every(([key]) => isName(key))
      for (const [key, each] of entries)
        visit(each, path === '' ? label(key, isTable) : `${path}.${label(key, isTable)}`, depth + 1)
    }
  }
}

/** The keys of a table stand together under one sign. */
function label(key: string, isTable: boolean): string {
  return isTable ? '*' : key
}

function typeOf(value: unknown): FieldName['type'] | undefined {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  const type = typeof value
  return type === 'string' || type === 'number' || type === 'boolean' || type === 'object' ? type : undefined
}
