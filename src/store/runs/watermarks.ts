import type { Database } from '../database/database.ts'

export interface WatermarkKey {
  connector: string
  entity: string
  /** What narrows the scan, as text: another filter is another source. */
  filter: string
}

/** Where the next increment of each source begins. */
export interface WatermarkLedger {
  get(key: WatermarkKey): Promise<string | undefined>
  /** Only after the tasks of every page before it are stored. */
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
