import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import { operationsAbout } from '../../domain/operations.ts'
import { identifiersOf, type Identifier } from '../../domain/subjects/identifiers.ts'
import { identifiersOfKey, isNamed, profilesIn } from '../../domain/subjects/traces.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

/** Everything in the ledger that is about one subject. */
export interface Subject {
  /** The identifiers that were given, and the addresses and profiles that the ledger knows of the same subject. */
  identifiers: Identifier[]
  taskIds: bigint[]
  lookups: LookupKey[]
}

/** The same while it is being collected. */
interface Found {
  identifiers: Map<string, Identifier>
  taskIds: Set<bigint>
  lookups: Set<LookupKey>
}

const pageSize = 2_000

/**
 * Finds a subject by its identifiers. An address or profile in one of the subject's records identifies it too. A phone in
 * such a record does not, because a whole company may share it. Each pass uses the identifiers that the pass before found,
 * until nothing new is found.
 */
export async function findSubject(db: Database, given: readonly Identifier[]): Promise<Subject> {
  const identifiers = new Map(given.map((identifier) => [nameOf(identifier), identifier]))
  const found: Found = { identifiers, taskIds: new Set(), lookups: new Set() }
  const object = given.some(({ kind, value }) => kind === 'profile_url' && /\/company\//.test(value))
    ? 'company'
    : 'person'
  for (let sizeBefore = -1; sizeBefore !== sizeOf(found);) {
    sizeBefore = sizeOf(found)
    await collectLookups(db, object, found)
    await collectTasks(db, object, found)
  }
  return {
    identifiers: [...found.identifiers.values()],
    taskIds: [...found.taskIds],
    lookups: [...found.lookups],
  }
}

function sizeOf({ identifiers, lookups, taskIds }: Found): number {
  return identifiers.size + lookups.size + taskIds.size
}

async function collectLookups(
  db: Database,
  object: ObjectKind,
  { identifiers, lookups: found }: Found,
): Promise<void> {
  const rows = await db
    .selectFrom('lookups')
    .select('key')
    .where('operation', 'in', operationsAbout(object))
    .where((eb) =>
      eb.or([...identifiers.values()].map(({ value }) => sql<boolean>`key like ${containing(value)}`)),
    )
    .execute()
  for (const { key } of rows) if (isNamed(identifiersOfKey(key), identifiers)) found.add(key)
  if (found.size === 0) return
  const answers = await db
    .selectFrom('lookups')
    .select(['key', 'answer'])
    .where('key', 'in', [...found])
    .where('answer', 'is not', null)
    .execute()
  for (const { key, answer } of answers) {
    // Only the profile that the answer is about: the other profiles in it are other people's.
    const profile = isAbout(key, object) ? profilesIn(answer, object)[0] : undefined
    if (profile) identifiers.set(nameOf(profile), profile)
  }
}

async function collectTasks(
  db: Database,
  object: ObjectKind,
  { identifiers, lookups, taskIds }: Found,
): Promise<void> {
  for (let after = 0n; ;) {
    const rows = await db
      .selectFrom('tasks')
      .innerJoin('runs', 'runs.id', 'tasks.run_id')
      .select(['tasks.id', 'identity', 'lookup_key', 'waiting_for', 'steps'])
      .where('object', '=', object)
      .where('tasks.id', '>', after)
      .orderBy('tasks.id')
      .limit(pageSize)
      .execute()
    for (const row of rows) {
      const own = identifiersOf(row.identity).filter(({ kind }) => kind !== 'domain')
      const keys = [row.lookup_key, row.waiting_for, ...row.steps].filter((key) => key !== null)
      if (!isNamed(own, identifiers) && !keys.some((key) => lookups.has(key))) continue
      taskIds.add(row.id)
      for (const identifier of own)
        if (identifier.kind !== 'phone') identifiers.set(nameOf(identifier), identifier)
      for (const key of keys) if (isAbout(key, object)) lookups.add(key)
    }
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = last.id
  }
}

/** Returns a LIKE pattern that finds the text literally, anywhere. */
export function containing(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}

/** Returns the key under which `isNamed` finds an identifier. */
export function nameOf({ kind, value }: Identifier): string {
  return `${kind}|${value}`
}

function isAbout(key: LookupKey, object: ObjectKind): boolean {
  return operationsAbout(object).some((operation) => key.startsWith(`${operation}|`))
}
