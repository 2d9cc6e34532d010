import { sql, type Transaction } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import {
  learnNames,
  lessonOf,
  namesIn,
  type KnownNames,
  type Lesson,
} from '../../domain/subjects/taught-names.ts'
import type { Database } from '../database/database.ts'
import { isEmbedded } from '../database/embedded.ts'
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
  const lessons = answers.flatMap(({ key, data }) => (data && lessonOf(key, data, hosts)) ?? [])
  if (lessons.length === 0) return
  // It ends with the transaction.
  await sql`savepoint names`.execute(tx)
  try {
    await learn(tx, lessons, at)
  } catch {
    await sql`rollback to savepoint names`.execute(tx)
  }
}

async function learn(tx: Transaction<Tables>, lessons: readonly Lesson[], at: Date): Promise<void> {
  let changes = learnNames(await readNames(tx, lessons), lessons)
  if (changes.size === 0) return
  // Nobody else can change a name of the embedded ledger while this transaction is open.
  if (!isEmbedded(tx)) {
    await sql`select pg_advisory_xact_lock(${lockId})`.execute(tx)
    changes = learnNames(await readNames(tx, lessons), lessons)
  }
  const rows = JSON.stringify([...changes].map(([name, subject]) => ({ name, subject })))
  await sql`
    insert into subject_names (name, subject, learned_at)
    select name, subject, ${at}::timestamptz from jsonb_to_recordset(${rows}::jsonb) as learned (name text, subject text)
    on conflict (name) do update set subject = excluded.subject, learned_at = excluded.learned_at`.execute(tx)
}

/** Returns the names of these lessons, and all names of the subjects that they stand for. */
async function readNames(db: Database, lessons: readonly Lesson[]): Promise<KnownNames> {
  const names = [...new Set(lessons.flatMap(namesIn))]
  const { rows } = await sql<{ name: string; subject: string | null }>`
    with named as materialized (select name, subject from subject_names where name = any(${names}::text[]))
    select name, subject from named
    union
    select name, subject from subject_names where subject = any(${names}::text[]
      || array(select subject from named where subject is not null))`.execute(db)
  return new Map(rows.map(({ name, subject }) => [name, subject]))
}
