import { sql } from 'kysely'
import { contactTypes } from '../../domain/contact-types.ts'
import { defaultNetworkHosts, lookupKey, underAllHosts, type LookupKey } from '../../domain/keys.ts'
import { operationRow, operationsAbout, personalOperations } from '../../domain/operations.ts'
import {
  identifiersOf,
  identifiersOfName,
  underAllNames,
  type Identifier,
} from '../../domain/subjects/identifiers.ts'
import { identifiersOfKey, isNamed, profilesIn, scrub } from '../../domain/subjects/traces.ts'
import type { ObjectKind } from '../../domain/words.ts'
import { kindOfName, namedBy } from '../../domain/subjects/names.ts'
import { lessonOf, namesIn, namesOfNumber } from '../../domain/subjects/taught-names.ts'
import type { Database } from '../database/database.ts'
import { isOneOf } from '../database/parameters.ts'
import { namesOfSubjects } from '../names/names-of.ts'
import { needlesOf } from './needles.ts'

/** Everything in the ledger that is about one subject. */
export interface Subject {
  /** The identifiers that were given, and the addresses and profiles that the ledger knows of the same subject. */
  identifiers: Identifier[]
  taskIds: bigint[]
  lookups: LookupKey[]
  /** All names that answers have taught of it. */
  names: string[]
  /** Names that it shares with others, by which nobody is found: they have to be erased all the same. */
  contested: string[]
}

/** The same while it is being collected. */
interface Found {
  identifiers: Map<string, Identifier>
  taskIds: Set<bigint>
  lookups: Set<LookupKey>
  names: Set<string>
  hosts: readonly string[]
}

const pageSize = 2_000

/**
 * Finds a subject by its identifiers. An address or profile in one of the subject's records identifies it too. A phone in
 * such a record does not, because a whole company may share it. Each pass uses the identifiers that the pass before found,
 * until nothing new is found.
 */
export async function findSubject(
  db: Database,
  given: readonly Identifier[],
  hosts: readonly string[] = defaultNetworkHosts,
): Promise<Subject> {
  const found: Found = {
    identifiers: new Map(),
    taskIds: new Set(),
    lookups: new Set(),
    names: new Set(),
    hosts,
  }
  for (const identifier of given) identify(found, identifier)
  const object = given.some(({ kind, value }) => kind === 'profile_url' && /\/company\//.test(value))
    ? 'company'
    : 'person'
  for (let sizeBefore = -1; sizeBefore !== sizeOf(found);) {
    sizeBefore = sizeOf(found)
    await collectNames(db, object, found)
    await collectLookups(db, object, found)
    await collectTasks(db, object, found)
  }
  return {
    identifiers: [...found.identifiers.values()],
    taskIds: [...found.taskIds],
    lookups: [...found.lookups],
    names: [...found.names],
    contested: await contestedNames(db, found),
  }
}

/** Adds an identifier. Keys, records and answers of older versions name a profile under any host of the network. */
function identify({ identifiers, hosts }: Found, identifier: Identifier): void {
  for (const each of underAllNames(identifier, hosts)) identifiers.set(nameOf(each), each)
}

function sizeOf({ identifiers, lookups, taskIds, names }: Found): number {
  return names.size + identifiers.size + lookups.size + taskIds.size
}

/** Every name that answers have given the subject identifies it: an earlier profile, an id, a company's own domain. */
async function collectNames(db: Database, object: ObjectKind, found: Found): Promise<void> {
  const { identifiers, names, lookups, hosts } = found
  const profiles = [...identifiers.values()].filter(({ kind }) => kind === 'profile_url')
  const taught = await namesOfSubjects(db, [...profiles.map(({ value }) => value), ...names])
  for (const name of [...taught.values()].flat()) {
    names.add(name)
    for (const identifier of identifiersOfName(name))
      if (identifier.kind === 'profile_url') identify(found, identifier)
  }
  const keys = [...names]
    .flatMap((name) => underAllHosts(name, hosts))
    .flatMap((name) => keysOf(name, object))
  if (keys.length === 0) return
  const rows = await db.selectFrom('lookups').select('key').where(isOneOf('key', keys)).execute()
  for (const { key } of rows) lookups.add(key)
}

/**
 * Returns the names in the subject's answers that name nobody, because answers disagree about them. A domain that several
 * companies share is nobody's, and stays.
 */
async function contestedNames(db: Database, { identifiers, lookups, hosts }: Found): Promise<string[]> {
  const rows =
    lookups.size === 0
      ? []
      : await db
          .selectFrom('lookups')
          .select(['key', 'answer'])
          .where('key', 'in', [...lookups])
          .execute()
  const lessons = rows.flatMap(
    ({ key, answer }) => (answer && lessonOf(key, answer as Record<string, unknown>, hosts)) ?? [],
  )
  const told = lessons.flatMap(namesIn)
  const profiles = [...identifiers.values()].filter(({ kind }) => kind === 'profile_url')
  const { rows: contested } = await sql<{ name: string }>`
    select name from subject_names where subject is null and name = any(${[
      ...told,
      ...profiles.map(({ value }) => value),
    ]}::text[])
    union
    select name from subject_names where name like 'uid:%@%'
      and split_part(name, '@', 2) = any(${profiles.map(({ value }) => value)}::text[])`.execute(db)
  // An answer that was erased by its age left its number in the note of it.
  const numbers = contested.flatMap(({ name }) => (name.startsWith('uid:') ? namesOfNumber(name, hosts) : []))
  return [...new Set([...contested.map(({ name }) => name), ...numbers])].filter(
    (name) => kindOfName(name) !== 'domain',
  )
}

function keysOf(name: string, object: ObjectKind): LookupKey[] {
  return operationsAbout(object)
    .flatMap((operation) => [
      lookupKey(operation, name),
      ...contactTypes.map((type) => lookupKey(operation, `${name}|${type}`)),
    ])
    .filter((key) => namedBy(key) !== undefined)
}

async function collectLookups(db: Database, object: ObjectKind, subject: Found): Promise<void> {
  const { identifiers, lookups: found } = subject
  const rows = await db
    .selectFrom('lookups')
    .select('key')
    .where('operation', 'in', operationsAbout(object))
    .where((eb) =>
      eb.or([...identifiers.values()].map(({ value }) => sql<boolean>`key like ${containing(value)}`)),
    )
    .execute()
  for (const { key } of rows) if (isNamed(identifiersOfKey(key), identifiers)) found.add(key)
  for (const key of await askedWith(db, [...identifiers.values()])) found.add(key)
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
    if (profile) identify(subject, profile)
  }
}

async function collectTasks(db: Database, object: ObjectKind, subject: Found): Promise<void> {
  const { identifiers, lookups, taskIds, hosts } = subject
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
      const own = identifiersOf(row.identity)
        .filter(({ kind }) => kind !== 'domain')
        .flatMap((each) => underAllNames(each, hosts))
      const keys = [row.lookup_key, row.waiting_for, ...row.steps].filter((key) => key !== null)
      if (!isNamed(own, identifiers) && !keys.some((key) => lookups.has(key))) continue
      taskIds.add(row.id)
      for (const identifier of own) if (identifier.kind !== 'phone') identify(subject, identifier)
      for (const key of keys) if (isAbout(key, object)) lookups.add(key)
    }
    const last = rows.at(-1)
    if (!last || rows.length < pageSize) return
    after = last.id
  }
}

/** Searches and reads. Actions have a journal, from which they are erased. */
const namelessOperations = personalOperations.filter(
  (operation) => operationRow(operation).keyedBy.length === 0 && operationRow(operation).kind !== 'action',
)

/** Returns the lookups whose key is a digest and whose request names the subject: a search for those like it. */
async function askedWith(db: Database, identifiers: readonly Identifier[]): Promise<LookupKey[]> {
  const found = new Set<LookupKey>()
  for (const needle of needlesOf(identifiers)) {
    const rows = await db
      .selectFrom('lookups')
      .select(['key', 'request'])
      .where('operation', 'in', namelessOperations)
      .where(sql<boolean>`request::text ilike ${containing(needle)}`)
      .execute()
    for (const { key, request } of rows) if (scrub(request, identifiers).isChanged) found.add(key)
  }
  return [...found]
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
