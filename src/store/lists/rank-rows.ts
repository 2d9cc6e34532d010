import { sql } from 'kysely'
import { similarityOf } from '../../domain/lists/fuse-ranks.ts'
import type { ObjectKind } from '../../domain/words.ts'
import type { Database } from '../database/database.ts'
import { tellRows } from './list-rows.ts'

/** The way in which the rows of a list are put in order, where references named them. */
export interface Ranking {
  object: ObjectKind
  /** Rows below it are left out. */
  minScore: number | undefined
  /** The most rows, the best first. */
  limit: number | undefined
}

const atOnce = 500

/**
 * Puts the rows of a fetch that has ended in the order of their similarity, and removes those that are not wanted: only then is it known
 * which references named a row. Returns the rows that are kept, and those that lie below the least score. Called in the transaction that
 * ends the fetch, so that no plan sees another order.
 */
export async function rankRows(
  tx: Database,
  fetchId: string,
  { object, minScore, limit = Infinity }: Ranking,
): Promise<{ stored: number; below: number }> {
  const rows = await tx
    .selectFrom('list_rows')
    .select(['ordinal', 'found'])
    .where('fetch_id', '=', BigInt(fetchId))
    .execute()
  const scored = rows
    .map(({ ordinal, found }) => ({ ordinal: Number(ordinal), score: similarityOf(object, found) }))
    .sort((a, b) => (b.score ?? -1) - (a.score ?? -1) || a.ordinal - b.ordinal)
  const wanted = scored.filter(({ score }) => minScore === undefined || (score ?? -1) >= minScore)
  const kept = wanted.slice(0, limit)
  const given = JSON.stringify(kept.map(({ ordinal }, at) => ({ ordinal, place: at + 1 })))
  // Places below zero first: two rows never have the same.
  await sql`
    update list_rows as kept set ordinal = -given.place
    from jsonb_to_recordset(${given}::jsonb) as given (ordinal bigint, place bigint)
    where kept.fetch_id = ${fetchId}::bigint and kept.ordinal = given.ordinal`.execute(tx)
  await sql`delete from list_rows where fetch_id = ${fetchId}::bigint and ordinal > 0`.execute(tx)
  await sql`update list_rows set ordinal = -ordinal where fetch_id = ${fetchId}::bigint`.execute(tx)
  await tx.deleteFrom('list_row_identities').where('fetch_id', '=', BigInt(fetchId)).execute()
  for (let at = 0; at < kept.length; at += atOnce) {
    const batch = await tx
      .selectFrom('list_rows')
      .select(['ordinal', 'row_key', 'identities'])
      .where('fetch_id', '=', BigInt(fetchId))
      .where('ordinal', '>', BigInt(at))
      .where('ordinal', '<=', BigInt(at + atOnce))
      .orderBy('ordinal')
      .execute()
    await tellRows(
      tx,
      fetchId,
      batch.map(({ ordinal, row_key: key, identities }) => ({
        ordinal: Number(ordinal),
        serviceId: key.startsWith('id:') ? key : null,
        identities,
      })),
    )
  }
  return { stored: kept.length, below: scored.length - wanted.length }
}
