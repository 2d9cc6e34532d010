import { sql } from 'kysely'
import type { Operation } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'

/** A key of answered requests, by the catalogue's name. */
export interface SentKey {
  operation: Operation
  name: string
  /** The last answer to a request with the key that does not say that it was ignored. */
  takenAt: Date | null
  /** The last answer that says that it was ignored, by this name or by the one under which it was sent. */
  ignoredAt: Date | null
}

/** Answers of an operation that are looked at, the newest first: enough to have seen each key, and no more than a moment's work. */
const recent = 20

/**
 * Returns the keys of the last answered requests of operations whose whole answers are stored. `wireNames` are the names
 * under which keys leave, by operation and key. Requests to another path than the catalogue's say nothing.
 */
export async function sentKeys(
  db: Database,
  operations: readonly Operation[],
  wireNames: readonly { operation: Operation; name: string; wireName: string }[] = [],
): Promise<SentKey[]> {
  const { rows } = await sql<SentKey>`
    with newest as materialized (
      select key, row_number() over (partition by operation order by answered_at desc) as place
      from lookups where operation = any(${[...operations]}::text[]) and state = 'answered' and answered_at is not null
        and outcome in ('found', 'not_found') and not request ? '$path'
    ), wire as materialized (
      select * from jsonb_to_recordset(${JSON.stringify(wireNames)}::jsonb) as wire (operation text, name text, "wireName" text)
    ), sent as (
      select operation, name, answered_at, exists (
        select from jsonb_array_elements(case when jsonb_typeof(answer #> '{metadata,ignored_fields}') = 'array'
          then answer #> '{metadata,ignored_fields}' else '[]'::jsonb end) as ignored
        where ignored #>> '{}' in (name, (
          select "wireName" from wire where wire.operation = lookups.operation and wire.name = names.name))
      ) as is_ignored
      from newest join lookups using (key), jsonb_object_keys(request) as names (name)
      where place <= ${recent}
    )
    select operation, name, max(answered_at) filter (where not is_ignored) as "takenAt",
      max(answered_at) filter (where is_ignored) as "ignoredAt"
    from sent group by operation, name order by operation, name`.execute(db)
  return rows
}

/** Returns when the last answer of each operation was stored that was read as expected. */
export async function lastReadAnswers(db: Database): Promise<Map<Operation, Date>> {
  const { rows } = await sql<{ operation: Operation; at: Date }>`
    select operation, max(answered_at) as at from lookups
    where state = 'answered' and outcome in ('found', 'not_found') and answered_at is not null group by operation`.execute(
    db,
  )
  return new Map(rows.map(({ operation, at }) => [operation, at]))
}
