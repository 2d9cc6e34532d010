import { objectKinds, type ObjectKind } from './words.ts'

/**
 * Returns the entities that a person means: `contact`, `contacts` and `Contacts` are one entity, `person` and `people` are
 * all entities of that kind. Empty when there is none.
 */
export function entitiesNamed(entities: Readonly<Record<string, ObjectKind>>, wanted: string): string[] {
  const all = Object.keys(entities)
  // An entity comes first: `contact` is not every person.
  const named = all.filter((name) => singular(name) === singular(wanted))
  if (named.length > 0) return named
  const object = objectNamed(wanted)
  return all.filter((name) => entities[name] === object)
}

/** Returns the object that `company`, `companies`, `person` or `people` names, undefined for another word. */
export function objectNamed(wanted: string): ObjectKind | undefined {
  return objectKinds.find((object) => object === singular(wanted))
}

function singular(word: string): string {
  const lower = word.trim().toLowerCase()
  if (lower === 'people') return 'person'
  return lower.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '')
}
