import type { BookEntry, BookField, CrmBook } from './book.ts'

interface Shelf<Type extends string, Row> {
  /** The objects, in the order of their tabs, each with its label. */
  labels: Readonly<Record<Type, string>>
  store: {
    count(type: Type): number
    list(type: Type): Iterable<Row>
    get(type: Type, id: string): Row | undefined
  }
  entryOf(row: Row): BookEntry
  fieldsOf(row: Row): BookField[]
}

/** The part of a book that reads; it is the same for each CRM. */
type Reading = Pick<CrmBook, 'objects' | 'list' | 'find'>

/** Reads a stand-in's records as a person sees them. `typeOf` throws for an object that the CRM does not have. */
export function createReading<Type extends string, Row>({
  labels,
  store,
  entryOf,
  fieldsOf,
}: Shelf<Type, Row>): Reading & { typeOf(object: string): Type } {
  const types = Object.keys(labels) as Type[]
  const known = (object: string) => types.find((name) => name === object)
  function typeOf(object: string): Type {
    const type = known(object)
    if (type) return type
    throw new Error(`no object ${object}`)
  }
  return {
    typeOf,
    objects: () => types.map((name) => ({ name, label: labels[name], count: store.count(name) })),
    list: (object) => [...store.list(typeOf(object))].map(entryOf),
    find(object, id) {
      const type = known(object)
      const row = type && store.get(type, id)
      return row && { entry: entryOf(row), fields: fieldsOf(row) }
    },
  }
}
