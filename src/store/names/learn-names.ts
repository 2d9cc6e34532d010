import { sql, type QueryResult, type RawBuilder, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import {
  learnNames,
  lessonOf,
  namesIn,
  type KnownNames,
  type Lesson,
} from '../../domain/subjects/taught-names.ts'
import { isEmbedded } from '../database/embedded.ts'
import { inOneTrip, type Ending } from '../database/postgres/one-trip.ts'
import type { Tables } from '../database/tables/schema.ts'

/** A found answer, with the lookup that it was stored under. */
export interface Taught {
  key: LookupKey
  data: Record<string, unknown> | null
}

/** The advisory lock for changing names. The number is arbitrary, and the same in every process. */
const lockId = 7_290_017

/**
 * Stores the names that answers teach, in the transaction that stores the answers: there is no moment at which the ledger has
 * an answer and not its names. Called last in it.
 *
 * Crash and race windows:
 * - Two processes learn about one subject at once: the second waits for the first to commit, reads again and decides anew.
 *   Nothing is locked after that lock, so that nobody who waits for it is waited for.
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
    const [, known] = await inOneTrip<[unknown, NameRow]>(tx, sql`savepoint names`, reading)
    await learn(tx, lessons, { reading, known, at })
  } catch {
    await sql`rollback to savepoint names`.execute(tx)
  }
}

/**
 * The same in fewer trips: `storing` stores the answers, and `ending` commits them with their names. Where names cannot be stored
 * nothing is, and the caller stores the answers as above (`inOneTransaction`).
 */
export async function storeWithNames(
  tx: Transaction<Tables>,
  storing: RawBuilder<unknown>,
  answers: readonly Taught[],
  { hosts, at, ending }: { hosts: readonly string[]; at: Date; ending: Ending },
): Promise<QueryResult<unknown>> {
  const lessons = lessonsIn(answers, hosts)
  if (lessons.length === 0) return (await inOneTrip(tx, storing, ...ending))[0]
  const reading = readNames(lessons)
  const [stored, known] = await inOneTrip<[unknown, NameRow]>(tx, storing, reading)
  await learn(tx, lessons, { reading, known, at, ending })
  return stored
}

function lessonsIn(answers: readonly Taught[], hosts: readonly string[]): Lesson[] {
  return answers.flatMap(({ key, data }) => (data && lessonOf(key, data, hosts)) ?? [])
}

async function learn(
  tx: Transaction<Tables>,
  lessons: readonly Lesson[],
  {
    reading,
    known,
    at,
    ending = [],
  }: { reading: RawBuilder<NameRow>; known: QueryResult<NameRow>; at: Date; ending?: Ending },
): Promise<void> {
  let changes = learnNames(knownIn(known), lessons)
  if (changes.size === 0) return
  // No other transaction can change a name of the embedded ledger while this transaction is open.
  if (!isEmbedded(tx)) {
    const [, locked] = await inOneTrip<[unknown, NameRow]>(
      tx,
      sql`select pg_advisory_xact_lock(${lockId})`,
      reading,
    )
    if (!areSame(known.rows, locked.rows)) changes = learnNames(knownIn(locked), lessons)
  }
  const rows = JSON.stringify([...changes].map(([name, subject]) => ({ name, subject })))
  await inOneTrip(
    tx,
    sql`
    insert into subject_names (name, subject, learned_at)
    select name, subject, ${at}::timestamptz from jsonb_to_recordset(${rows}::jsonb) as learned (name text, subject text)
    on conflict (name) do update set subject = excluded.subject, learned_at = excluded.learned_at`,
    ...ending,
  )
}

interface NameRow {
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

function knownIn({ rows }: QueryResult<NameRow>): KnownNames {
  return new Map(rows.map(({ name, subject }) => [name, subject]))
}
