import type { Database } from '../database/database.ts'

export interface WatermarkKey {
  connector: string
  entity: string
  /** The conditions of the scan, as text. Each filter is a source of its own. */
  filter: string
}

/** Stores where the next incremental scan of each source begins. */
export interface WatermarkLedger {
  get(key: WatermarkKey): Promise<string | undefined>
  /** Called only after the tasks of every page before the watermark are stored. */
  move(key: WatermarkKey, watermark: string, runId: string): Promise<void>
  forget(key: WatermarkKey): Promise<void>
}

export function createWatermarkLedger(db: Database, options: { now: () => Date }): WatermarkLedger {
  return {
    async get({ connector, entity, filter }) {
      const row = await db
        .selectFrom('watermarks')
        .select('watermark')
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where('filter', '=', filter)
        .executeTakeFirst()
      return row?.watermark
    },
    async move(key, watermark, runId) {
      const state = { watermark, run_id: runId, moved_at: options.now() }
      await db
        .insertInto('watermarks')
        .values({ ...key, ...state })
        .onConflict((conflict) => conflict.columns(['connector', 'entity', 'filter']).doUpdateSet(state))
        .execute()
    },
    async forget({ connector, entity, filter }) {
      await db
        .deleteFrom('watermarks')
        .where('connector', '=', connector)
        .where('entity', '=', entity)
        .where('filter', '=', filter)
        .execute()
    },
  }
}
