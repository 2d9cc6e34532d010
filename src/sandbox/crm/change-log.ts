/** One change of a record, as the page of a stand-in shows it. */
export interface Change {
  atMs: number
  by: string
  fields: { name: string; before: string; after: string }[]
}

type Values = Readonly<Record<string, unknown>>

/** Remembers who changed what in a stand-in, for its page alone: no connector reads it. */
export interface ChangeLog {
  note(object: string, id: string, before: Values, after: Values): void
  /** Everything that `work` changes was changed by this one. */
  as<T>(by: string, work: () => T): T
  /** Everything noted, to be kept from one start to the next. */
  readonly all: Map<string, Change[]>
  /** The latest first. */
  of(object: string, id: string): readonly Change[]
}

/** A record that is written again and again does not fill the memory. */
const keptPerRecord = 100

export function createChangeLog(now: () => number): ChangeLog {
  const changes = new Map<string, Change[]>()
  let author = 'the API'
  return {
    all: changes,
    note(object, id, before, after) {
      const names = new Set([...Object.keys(before), ...Object.keys(after)])
      const fields = [...names]
        .map((name) => ({ name, before: textOf(before[name]), after: textOf(after[name]) }))
        .filter((field) => field.before !== field.after)
      if (fields.length === 0) return
      const key = `${object}/${id}`
      changes.set(
        key,
        [{ atMs: now(), by: author, fields }, ...(changes.get(key) ?? [])].slice(0, keptPerRecord),
      )
    },
    as(by, work) {
      const before = author
      author = by
      try {
        return work()
      } finally {
        author = before
      }
    },
    of: (object, id) => changes.get(`${object}/${id}`) ?? [],
  }
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? '' : String(value)
}
