import { sql, type RawBuilder, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import {
  learnNames,
  lessonOf,
  namesIn,
  type KnownNames,
  type Lesson,
} from '../../domain/subjects/taught-names.ts'
import { isEmbedded } from '../database/embedded.ts'
import { inOneTrip } from '../database/postgres/one-trip.ts'
import type { Tables } from '../database/tables/schema.ts'

/** A found answer, with the lookup that it was stored under. */
export interface Taught {
  key: LookupKey
  data: Record<string, unknown> | null
}

/** The lock for changing names. The number is arbitrary, and the same in every process. */
const lock = sql`select pg_advisory_xact_lock(7290017)`

/**
 * Stores the names that answers teach, in the transaction that stores the answers: there is no moment at which the ledger has
 * an answer and not its names. Called last in it.
 *
 * Crash and race windows:
 * - Two processes learn about one subject at once: the second waits for the first to commit, reads again and decides anew.
 *   Nothing but names is locked after that lock, so that nobody who waits for it is waited for.
 * - A name is never worth a paid answer: when storing names fails, the answer is stored without them. The subject may then be
 *   bought once more under another name.
 */
export async function learnFromAnswers(
  tx: Transaction<Tables>,
  answers: readonly Taught[],
  { hosts, at }: { hosts: readonly string[]; at: Date },
): Promise<void> {
  const lessons = lessonsIn(answers, hosts)
  if (lessons.length === 0) return
  try {
    // The savepoint ends with the transaction.
    const reading = readNames(lessons)
    const [, { rows }] = await inOneTrip<[unknown, NameRow]>(tx, sql`savepoint names`, reading)
    await learn(tx, lessons, { reading, known: rows, at })
  } catch {
    await sql`rollback to savepoint names`.execute(tx)
  }
}

/** The names of some answers, as statements that go with those of others. */
export interface NamesAhead {
  reading: RawBuilder<NameRow>
  /** Returns what to store, with these names known. It fails in the database where they have changed since they were read. */
  learning(known: readonly NameRow[], at: Date): RawBuilder<unknown>[]
}

/**
 * The same in fewer trips: the names are read before the lock is taken, and lock, comparison and change leave together, before a
 * commit, so that the lock is held for no longer than the server works. Where that fails nothing is stored, and the caller stores the
 * answers as above. Returns undefined where nothing is taught.
 */
export function namesAhead(answers: readonly Taught[], hosts: readonly string[]): NamesAhead | undefined {
  const lessons = lessonsIn(answers, hosts)
  if (lessons.length === 0) return undefined
  const reading = readNames(lessons)
  return {
    reading,
    learning(known, at) {
      const changes = learnNames(knownIn(known), lessons)
      return changes.size === 0 ? [] : [lock, unchanged(reading, known), storing(changes, at)]
    },
  }
}

/** Fails in the database where the names have changed since they were read; the server's log says so. */
function unchanged(reading: RawBuilder<NameRow>, known: readonly NameRow[]): RawBuilder<unknown> {
  return sql`
    with now as materialized (select * from (${reading}) as named), known as (
      select * from jsonb_to_recordset(${JSON.stringify(known)}::jsonb) as known (name text, subject text)
    ), changed as ((table now except table known) union all (table known except table now))
    select case when count(*) = 0 then 0 else ('names have changed meanwhile: ' || count(*))::int end from changed`
}

function lessonsIn(answers: readonly Taught[], hosts: readonly string[]): Lesson[] {
  return answers.flatMap(({ key, data }) => (data && lessonOf(key, data, hosts)) ?? [])
}

async function learn(
  tx: Transaction<Tables>,
  lessons: readonly Lesson[],
  { reading, known, at }: { reading: RawBuilder<NameRow>; known: readonly NameRow[]; at: Date },
): Promise<void> {
  let changes = learnNames(knownIn(known), lessons)
  if (changes.size === 0) return
  // No other transaction can change a name of the embedded ledger while this transaction is open.
  if (!isEmbedded(tx)) {
    const [, locked] = await inOneTrip<[unknown, NameRow]>(tx, lock, reading)
    if (!areSame(known, locked.rows)) changes = learnNames(knownIn(locked.rows), lessons)
  }
  await storing(changes, at).execute(tx)
}

function storing(changes: ReadonlyMap<string, string | null>, at: Date): RawBuilder<unknown> {
  const rows = JSON.stringify([...changes].map(([name, subject]) => ({ name, subject })))
  return sql`
    insert into subject_names (name, subject, learned_at)
    select name, subject, ${at}::timestamptz from jsonb_to_recordset(${rows}::jsonb) as learned (name text, subject text)
    on conflict (name) do update set subject = excluded.subject, learned_at = excluded.learned_at`
}

export interface NameRow {
  name: string
  subject: string | null
}

/** The names of these lessons, and all names of the subjects that they stand for. */
function readNames(lessons: readonly Lesson[]): RawBuilder<NameRow> {
  const names = [...new Set(lessons.flatMap(namesIn))]
  return sql`
    with named as materialized (select name, subject from subject_names where name = any(${names}::text[]))
    select name, subject from named
    union
    select name, subject from subject_names where subject = any(${names}::text[]
      || array(select subject from named where subject is not null))`
}

/** False also for the same names in another order: then it is only decided anew. */
function areSame(before: readonly NameRow[], after: readonly NameRow[]): boolean {
  return (
    before.length === after.length &&
    before.every(({ name, subject }, at) => after[at]?.name === name && after[at].subject === subject)
  )
}

function knownIn(rows: readonly NameRow[]): KnownNames {
  return new Map(rows.map(({ name, subject }) => [name, subject]))
}
