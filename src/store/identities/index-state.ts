import { sql } from 'kysely'
import type { Database } from '../database/database.ts'

/** The state of the index of one object of a CRM. */
export interface IndexState {
  connector: string
  entity: string
  startedAt: Date
  /** The place in the scan behind the pages that are stored. Null: none is. */
  watermark: string | null
  /** The records of the scan so far, or of the last one. */
  records: number
  /** The end of the last whole scan. Null: there was none, so records may be missing. */
  completedAt: Date | null
  /** The time up to which later changes are in. */
  currentAt: Date | null
}

export interface IndexStates {
  all(): Promise<IndexState[]>
  get(connector: string, entity: string): Promise<IndexState | undefined>
  /** Begins a whole scan. The entries of before stay in use until it ends. */
  begin(connector: string, entity: string): Promise<IndexState>
  /** Stores the place behind a page, whose records are stored already. */
  move(connector: string, entity: string, watermark: string, records: number): Promise<void>
  /** Ends a whole scan: records that it has not seen are gone. Returns how many that were. */
  complete(state: IndexState): Promise<number>
  /** Ends a scan of later changes, which began at this time. */
  catchUp(connector: string, entity: string, at: Date): Promise<void>
}

export function createIndexStates(db: Database, { now }: { now: () => Date }): IndexStates {
  const read = db
    .selectFrom('record_indexes')
    .select([
      'connector',
      'entity',
      'started_at as startedAt',
      'watermark',
      'completed_at as completedAt',
      'current_at as currentAt',
    ])
    .select(({ cast, ref }) => cast<number>(ref('records'), 'float8').as('records'))
  const one = (connector: string, entity: string) =>
    read.where('connector', '=', connector).where('entity', '=', entity)
  return {
    all: () => read.orderBy('connector').orderBy('entity').execute(),
    get: (connector, entity) => one(connector, entity).executeTakeFirst(),

    async begin(connector, entity) {
      const scan = { started_at: now(), watermark: null, records: 0n }
      await db
        .insertInto('record_indexes')
        .values({ connector, entity, ...scan, completed_at: null, current_at: null })
        .onConflict((conflict) => conflict.columns(['connector', 'entity']).doUpdateSet(scan))
        .execute()
      return one(connector, entity).executeTakeFirstOrThrow()
    },

    async move(connector, entity, watermark, records) {
      await db
        .updateTable('record_indexes')
        .set({ watermark, records: BigInt(records) })
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .execute()
    },

    async complete({ connector, entity, startedAt }) {
      return db.transaction().execute(async (tx) => {
        const { rows } = await sql<{ gone: number }>`
          with gone as (
            delete from record_identities where connector = ${connector} and entity = ${entity} and seen_at < ${startedAt}
              and record_id not in (select record_id from record_identities where connector = ${connector}
                and entity = ${entity} and seen_at >= ${startedAt})
            returning record_id
          ) select count(distinct record_id)::int as gone from gone`.execute(tx)
        await tx
          .updateTable('record_indexes')
          // Changes since the scan began may be behind its pages.
          .set({ completed_at: now(), current_at: startedAt })
          .where('connector', '=', connector)
          .where('entity', '=', entity)
          .execute()
        return rows[0]?.gone ?? 0
      })
    },

    async catchUp(connector, entity, at) {
      await db
        .updateTable('record_indexes')
        .set({ current_at: at })
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .execute()
    },
  }
}
