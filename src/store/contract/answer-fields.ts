import { sql } from 'kysely'
import type { Operation } from '../../domain/words.ts'
import type { SeenType } from '../database/tables/contract-tables.ts'
import type { Database } from '../database/database.ts'

/** A field that answers of an operation had: its name and type, without any value. */
export interface SeenField {
  /** Names joined by dots, with `[]` for the entries of a list: `data.jobs[].functions`. */
  path: string
  type: SeenType
}

export interface Observation extends SeenField {
  firstSeen: Date
  lastSeen: Date
  /** The number of answers that had it, to within a few: counts go out together, and a killed process takes some with it. */
  answers: number
}

/**
 * Adds to the counts of the fields of an operation's answers. `answers` of each is the number of answers that had it since the
 * last call. Locks the rows in one order, because several processes add to the same ones.
 */
export async function noteFields(
  db: Database,
  operation: Operation,
  fields: readonly (SeenField & { answers: number })[],
  at: Date,
): Promise<void> {
  if (fields.length === 0) return
  await sql`
    insert into answer_fields (operation, path, type, first_seen, last_seen, answers)
    select ${operation}, path, type, ${at}::timestamptz, ${at}::timestamptz, answers
    from jsonb_to_recordset(${JSON.stringify(fields)}::jsonb) as seen (path text, type text, answers bigint)
    order by path collate "C", type collate "C"
    on conflict (operation, path, type) do update set
      last_seen = greatest(answer_fields.last_seen, excluded.last_seen), answers = answer_fields.answers + excluded.answers`.execute(
    db,
  )
}

/** Returns the fields that the answers of an operation had, by path. The path '' stands for the answers as a whole. */
export async function observations(db: Database, operation: Operation): Promise<Observation[]> {
  const rows = await db
    .selectFrom('answer_fields')
    .select(['path', 'type', 'first_seen as firstSeen', 'last_seen as lastSeen', 'answers'])
    .where('operation', '=', operation)
    .orderBy('path')
    .orderBy('type')
    .execute()
  return rows.map((row) => ({ ...row, answers: Number(row.answers) }))
}

/** Returns when an answer of each operation was seen last. */
export async function lastAnswers(db: Database): Promise<Map<Operation, Date>> {
  const rows = await db
    .selectFrom('answer_fields')
    .select((eb) => ['operation', eb.fn.max('last_seen').as('lastSeen')])
    .groupBy('operation')
    .execute()
  return new Map(rows.map(({ operation, lastSeen }) => [operation, lastSeen]))
}
