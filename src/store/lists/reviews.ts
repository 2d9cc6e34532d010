import { sql } from 'kysely'
import type { ReviewAnswer } from '../../domain/lists/judged-row.ts'
import type { Database } from '../database/database.ts'
import { storableJson } from '../database/parameters.ts'

/** An answer of a person about a row. */
export interface Review {
  /** The key by which people name the row. */
  key: string
  list: string
  answer: ReviewAnswer
  /** The record that the row is, for `same`. */
  recordId: string | null
  /** The object of that record. Null: it is not in the index. */
  recordEntity: string | null
  isRecordThere: boolean
  /** The records that were shown when the answer was given. */
  shown: readonly string[]
  by: string
  at: Date
}

interface NewReview {
  key: string
  list: string
  answer: ReviewAnswer
  recordId: string | null
  shown: readonly string[]
  by: string
  /** The names under which it is found again. */
  names: readonly string[]
  /** Every identity of the row, as text. */
  identities: readonly string[]
}

export interface Reviews {
  /** Returns the answers that were given about one of these names, by name. */
  find(names: readonly string[]): Promise<Map<string, Review>>
  /** Stores an answer. It replaces those about the same names, and those about the same key. */
  answer(review: NewReview): Promise<void>
  /** Erases the answer of this key, and returns it. */
  forget(key: string): Promise<Review | undefined>
  /** Returns the answers that were given in a list, the latest first. */
  ofList(list: string, limit: number): Promise<Review[]>
}

/** The object into which rows would go, and those whose records they may be. */
export interface ReviewedObject {
  connector: string
  entity: string
  comparable: readonly string[]
}

/** The answers of people about rows that may become records of this object. */
export function createReviews(
  db: Database,
  { connector, entity, comparable }: ReviewedObject,
  { now }: { now: () => Date },
): Reviews {
  const columns = sql`kept.key, kept.list, kept.answer, kept.record_id as "recordId", kept.shown, kept.decided_by as by,
    kept.decided_at as at, (select min(known.entity) from record_identities as known where known.connector = kept.connector
      and known.entity = any(${[...comparable]}::text[]) and known.record_id = kept.record_id) as "recordEntity", exists (select from record_identities as known
      where known.connector = kept.connector and known.entity = any(${[...comparable]}::text[])
        and known.record_id = kept.record_id) as "isRecordThere"`
  return {
    async find(names) {
      if (names.length === 0) return new Map()
      const { rows } = await sql<Review & { name: string }>`
        select named.name, ${columns} from list_review_names as named join list_reviews as kept on kept.id = named.review_id
        where named.connector = ${connector} and named.entity = ${entity} and named.name = any(${[...names]}::text[])`.execute(
        db,
      )
      return new Map(rows.map(({ name, ...review }) => [name, review]))
    },

    async answer({ key, list, answer, recordId, shown, by, names, identities }) {
      await db.transaction().execute(async (tx) => {
        // One at a time, so that two people who answer about one row never hold half of its names each.
        await sql`select pg_advisory_xact_lock(hashtext(${`list_reviews ${connector} ${entity}`}))`.execute(
          tx,
        )
        await sql`
          delete from list_reviews where connector = ${connector} and entity = ${entity} and (key = ${key} or id in (
            select review_id from list_review_names where connector = ${connector} and entity = ${entity}
              and name = any(${[...names]}::text[])))`.execute(tx)
        await sql`
          with noted as (
            insert into list_reviews (connector, entity, list, key, identities, answer, record_id, shown, decided_by, decided_at)
            values (${connector}, ${entity}, ${list}, ${key}, ${storableJson(identities)}::jsonb, ${answer}, ${recordId},
              ${storableJson(shown)}::jsonb, ${by}, ${now()}::timestamptz) returning id
          ) insert into list_review_names (connector, entity, name, review_id)
            select distinct ${connector}, ${entity}, name, noted.id from noted, unnest(${[...names]}::text[]) as name`.execute(
          tx,
        )
      })
    },

    async forget(key) {
      const { rows } = await sql<Review>`
        delete from list_reviews as kept where connector = ${connector} and entity = ${entity} and key = ${key}
        returning ${columns}`.execute(db)
      return rows[0]
    },

    async ofList(list, limit) {
      const { rows } = await sql<Review>`
        select ${columns} from list_reviews as kept
        where connector = ${connector} and entity = ${entity} and list = ${list}
        order by decided_at desc, id desc limit ${limit}`.execute(db)
      return rows
    },
  }
}
