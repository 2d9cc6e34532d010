import { sql } from 'kysely'
import type { LookupKey } from '../../domain/keys.ts'
import type { Identity } from '../../domain/record.ts'
import type { Database } from '../database/database.ts'

/** A record whose answer is no longer fresh. */
export interface StaleRecord {
  recordId: string
  /** The identity as the record was last read. */
  identity: Identity
  lookupKey: LookupKey
  answeredAt: Date
  freshUntil: Date
}

/** The record after which a page begins. */
export interface StalePlace {
  answeredAt: Date
  recordId: string
}

/** Returns the records of a source whose answer for a recipe is stale, the oldest answer first. */
export async function staleRecords(
  db: Database,
  source: { connector: string; entity: string; recipe: string },
  { at, after, limit }: { at: Date; after: StalePlace | undefined; limit: number },
): Promise<StaleRecord[]> {
  const behind = after
    ? sql`and (lookups.answered_at, last.record_id) > (${after.answeredAt}, ${after.recordId})`
    : sql``
  const { rows } = await sql<StaleRecord>`
    with last as (
      select distinct on (record_id) record_id, identity, lookup_key
      from tasks join runs on runs.id = tasks.run_id
      where runs.connector = ${source.connector} and runs.entity = ${source.entity} and runs.recipe = ${source.recipe}
        and runs.state != 'planned' and lookup_key is not null
      order by record_id, tasks.id desc
    )
    select record_id as "recordId", identity, lookup_key as "lookupKey", answered_at as "answeredAt", fresh_until as "freshUntil"
    from last join lookups on lookups.key = last.lookup_key
    where lookups.state = 'answered' and fresh_until <= ${at} and identity != '{}'::jsonb ${behind}
    order by answered_at, record_id limit ${limit}`.execute(db)
  return rows
}
